import type { Collection } from 'mongodb'
import type { IndexDeclaration } from '../ensure-indexes.ts'
import { createGroupCommit } from './group-commit.ts'
import { insertUnordered } from './insert-together.ts'
import type { ClaimDocument, Entry, JournalDocument, JournalStore } from './journal.ts'
import { entriesOf } from './journal-keys.ts'

/** What a document needs besides long texts, about. */
const bareBytes = 1024

/** By it an instance's entries are read in order; declare it with the service's collections. */
export const journalIndexes: readonly IndexDeclaration[] = [
  { key: { o: 1, q: 1 }, name: 'instance', partialFilterExpression: { q: { $gt: 0 } } },
]

/** A journal's collection in MongoDB or the embedded engine, with one group commit per process. */
export function mongodbJournal<Fact>(
  collection: Collection<JournalDocument<Fact>>,
  {
    isCurrent = () => true,
    steadyMs = () => performance.now(),
  }: {
    /** Whether this process still is that instance: a dead one's entries must not land after its recovery. */
    isCurrent?: (o: string) => boolean
    steadyMs?: () => number
  } = {},
): JournalStore<Fact> {
  const group = createGroupCommit<JournalDocument<Fact>>({
    mayGo: (document) => !('o' in document) || isCurrent(document.o),
    steadyMs,
    insert: (documents) => insertUnordered(collection, documents),
    bytesOf: (document) =>
      'ev' in document && document.ev !== undefined
        ? document.ev.reduce((sum, { body }) => sum + Buffer.byteLength(body), bareBytes)
        : bareBytes,
  })
  return {
    insert: (documents, untilMs) => group.insert(documents, untilMs),
    async readEntries(stream) {
      // Below a stream's key stand entries alone.
      const found = await collection.find(entriesOf(stream), { sort: { _id: 1 } }).toArray()
      return found as Entry<Fact>[]
    },
    read: (ids) => collection.find({ _id: { $in: [...ids] } }).toArray() as Promise<JournalDocument<Fact>[]>,
    async readClaims({ above, below }, max) {
      const range = { _id: { $gt: above, $lt: below } }
      const found = await collection.find(range, { sort: { _id: -1 }, limit: max }).toArray()
      return found as ClaimDocument[]
    },
    async readWritten(o, { after, limit }) {
      const written = { o, q: { $gt: after } }
      const found = await collection.find(written, { sort: { o: 1, q: 1 }, limit }).toArray()
      return found as Entry<Fact>[]
    },
    async removeClaim(id, w) {
      await collection.deleteOne({ _id: id, w })
    },
  }
}
