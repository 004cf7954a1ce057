import type { AnyBulkWriteOperation, Collection, Document, UpdateFilter } from 'mongodb'
import { amongKeys } from './among-keys.ts'
import type { DocumentKey } from './change-fenced.ts'

/** A list of a document whose entries have ids of their own, and the time since which it is not empty. */
type ListFields = { readonly list: string; readonly since: string }
/** A document, and the ids of the entries of its list that are done, oldest first. */
type Done = { readonly key: DocumentKey; readonly ids: readonly string[] }

/**
 * Removes done entries from lists of documents, and the time of a list that is empty then. A list that is as
 * it was read is emptied whole; entries that were appended since stay. It is safe to repeat. Source: ours.
 */
export async function emptyLists<Doc extends Document>(
  collection: Collection<Doc>,
  { list, since }: ListFields,
  done: readonly Done[],
): Promise<void> {
  if (done.length === 0) return
  // The driver's types cannot be built from computed field names.
  const documents = collection as unknown as Collection
  const emptied = { [list]: [], [since]: null }
  const { matchedCount } = await documents.bulkWrite(
    [...Map.groupBy(done, ({ ids }) => ids.length)].map(([length, alike]) =>
      emptyAlike(list, length, alike, emptied),
    ),
    { ordered: false },
  )
  if (matchedCount === done.length) return
  const among = amongKeys(done.map(({ key }) => key))
  const ids = done.flatMap((one) => one.ids)
  const pull = { $pull: { [list]: { id: { $in: ids } } } } as unknown as UpdateFilter<Document>
  await documents.updateMany(among, pull)
  await documents.updateMany({ ...among, [list]: { $size: 0 } }, { $set: { [since]: null } })
}

/**
 * Entries are only appended and each is of one document, so an equal number and the last of them show that
 * none has come since. Lists with as many are one update, which the database plans once.
 */
function emptyAlike(
  list: string,
  length: number,
  alike: readonly Done[],
  emptied: Document,
): AnyBulkWriteOperation {
  const last = length - 1
  const unchanged =
    length === 0 ? {} : { [`${list}.${last}.id`]: { $in: alike.flatMap(({ ids }) => ids[last] ?? []) } }
  const filter = { ...amongKeys(alike.map(({ key }) => key)), [list]: { $size: length }, ...unchanged }
  return { updateMany: { filter, update: { $set: emptied }, hint: '_id_' } }
}
