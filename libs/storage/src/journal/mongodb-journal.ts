import type { Binary, Db } from 'mongodb'
import type { IndexDeclaration } from '../ensure-indexes.ts'
import { pack, unpack } from '../packed.ts'
import { createGroupFind, findByIds } from '../group-find.ts'
import { createGroupCommit } from './group-commit.ts'
import { createInsertWithLists } from './insert-with-lists.ts'
import type { ClaimDocument, Entry, JournalDocument, JournalStore } from './journal.ts'
import { entriesOf } from './journal-keys.ts'
import type { NewListDocument } from './list-documents.ts'

/** What a document needs besides what is packed, about. */
const bareBytes = 256

/** An entry as it is stored: by its first fields it is found, and nothing looks into the others there. */
export type StoredEntry = Pick<Entry<never>, '_id' | 'w' | 'o' | 'q' | 'at'> & { readonly z: Binary }
export type StoredDocument = StoredEntry | ClaimDocument

/** By it an instance's entries are read in order; declare it with the service's collections. */
export const journalIndexes: readonly IndexDeclaration[] = [
  { key: { o: 1, q: 1 }, name: 'instance', partialFilterExpression: { q: { $gt: 0 } } },
]

/** The collection `journal` in MongoDB or the embedded engine, with one group commit per process. */
export function mongodbJournal<Fact>(
  db: Db,
  {
    isCurrent = () => true,
    steadyMs = () => performance.now(),
  }: {
    /** Whether this process still is that instance: a dead one's entries must not land after its recovery. */
    isCurrent?: (o: string) => boolean
    steadyMs?: () => number
  } = {},
): JournalStore<Fact> {
  const collection = db.collection<StoredDocument>('journal')
  const group = createGroupCommit<StoredDocument, NewListDocument>({
    mayGo: (document) => !('o' in document) || isCurrent(document.o),
    steadyMs,
    insert: createInsertWithLists(collection),
    bytesOf: (document) => ('z' in document ? bareBytes + document.z.position : bareBytes),
  })
  const findTogether = createGroupFind<StoredDocument>((ids) => findByIds(collection, ids))
  return {
    insert: (documents, untilMs, lists) => group.insert(documents.map(storedOf), untilMs, lists),
    async readEntries(stream) {
      // Below a stream's key stand entries alone.
      const found = await collection.find(entriesOf(stream), { sort: { _id: 1 } }).toArray()
      return found.map((document) => entryOf<Fact>(document as StoredEntry))
    },
    async read(ids) {
      const found = await Promise.all(ids.map(findTogether))
      return found.filter((one) => one !== null).map((document) => documentOf<Fact>(document))
    },
    async readClaims({ above, below }, max) {
      const range = { _id: { $gt: above, $lt: below } }
      const found = await collection.find(range, { sort: { _id: -1 }, limit: max }).toArray()
      return found as ClaimDocument[]
    },
    async readWritten(o, { after, limit }) {
      const written = { o, q: { $gt: after } }
      const found = await collection.find(written, { sort: { o: 1, q: 1 }, limit }).toArray()
      return found.map((document) => entryOf<Fact>(document as StoredEntry))
    },
    async removeClaim(id, w) {
      await collection.deleteOne({ _id: id, w })
    },
  }
}

/** What is stored of an entry or a claim. */
export function storedOf<Fact>(document: JournalDocument<Fact>): StoredDocument {
  if (!('o' in document)) return document
  const { _id, w, o, q, at, ...others } = document
  return { ...{ _id, w, o, q, at }, z: pack(others) }
}

/** The entry or claim that a document holds. */
export function documentOf<Fact>(stored: StoredDocument): JournalDocument<Fact> {
  return 'z' in stored ? entryOf<Fact>(stored) : stored
}

/** The entry that a document holds. */
export function entryOf<Fact>({ z, ...first }: StoredEntry): Entry<Fact> {
  return { ...first, ...unpack(z) } as Entry<Fact>
}
