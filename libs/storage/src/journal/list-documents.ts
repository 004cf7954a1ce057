import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Collection } from 'mongodb'
import { type Packed, packOthers } from '../packed.ts'
import { createInsertTogether } from './insert-together.ts'

/** What lists show of a stream: written from its entries, never loaded as state. */
export type ListDocument = {
  readonly _id: string
  /** The number of the last entry that it shows; absent, as 0, in documents older than the journal. */
  readonly n?: number
}

/** A list document that stands nowhere yet, on its way with the entry that it shows. */
export type NewListDocument = {
  readonly collection: string
  readonly document: ListDocument
  /** Called once it stands. */
  readonly inserted: () => void
}

/** As it is stored. */
type Stored = ListDocument & Readonly<Record<string, unknown>>

const knownMax = 20_000
/** Of a list document, about. */
const documentBytes = 2048

/**
 * Writes list documents into their collection: inserted once, replaced by a greater `n` only.
 * @param plain the fields that lists find and sort by, `_id` and `n` among them; the others are packed
 * @param shardKey the fields beside `_id` that address a document of the collection
 */
export function createListDocuments<Doc extends ListDocument, Plain extends keyof Doc>(
  given: Collection<Packed<Doc, Plain>>,
  { plain, shardKey = [] }: { plain: ReadonlySet<Plain>; shardKey?: readonly (Plain & string)[] },
) {
  // The driver's types cannot see through a generic document.
  const collection = given as unknown as Collection<Stored>
  const insertTogether = createInsertTogether(collection, () => documentBytes)
  /** The `n` at which a document stands at least. */
  const known = new BoundedMap<string, number>(knownMax)

  function note({ _id, n }: { readonly _id: string; readonly n: number }): void {
    known.set(_id, Math.max(n, known.get(_id) ?? 0))
  }

  async function replace(document: Stored, n: number): Promise<void> {
    const { _id } = document
    // `$lt` passes over documents without the field.
    const isOlder = { $or: [{ n: { $lt: n } }, { n: { $exists: false } }] }
    const key = Object.fromEntries(shardKey.map((field) => [field, document[field]]))
    const { _id: _, ...fields } = document
    await collection.replaceOne({ _id, ...key, ...isOlder }, fields)
  }

  return {
    /**
     * What of these documents stands nowhere yet, to be inserted with the entry that they show; none where one
     * has to be replaced.
     */
    newAmong(documents: readonly (Doc & { readonly n: number })[]): readonly NewListDocument[] {
      const others = documents.filter(({ _id, n }) => (known.get(_id) ?? -1) < n)
      if (others.some(({ _id }) => known.get(_id) !== undefined)) return []
      return others.map((document) => ({
        collection: collection.collectionName,
        document: packOthers<Doc, Plain>(document, plain) as unknown as Stored,
        inserted: () => note(document),
      }))
    },

    /**
     * Resolves when the collection has this document or one with a greater `n`. Documents that are new go out
     * together, in the process's next insert.
     * @throws ServiceError SERVICE_UNAVAILABLE when the database does not answer within 10 s
     */
    async write(document: Doc & { readonly n: number }): Promise<void> {
      const { _id, n } = document
      const standsAt = known.get(_id)
      if (standsAt !== undefined && standsAt >= n) return
      const stored = packOthers<Doc, Plain>(document, plain) as unknown as Stored
      if (standsAt !== undefined) await replace(stored, n)
      else {
        const [landed] = await insertTogether([stored])
        if (landed === 'present') await replace(stored, n)
      }
      note(document)
    },
  }
}
