import type { Collection, Document, Filter, UpdateFilter } from 'mongodb'

/**
 * Returns once the primary has been confirmed by its majority, by a write that changes nothing: what is read
 * afterwards is not from a primary that had been replaced before.
 * @throws MongoError when there is none
 */
export async function confirmPrimary<Doc extends Document>(collection: Collection<Doc>): Promise<void> {
  // The driver's types cannot see through a generic document.
  const nobody: Document = { _id: 'none' }
  const nothing: Document = { $set: { version: 0 } }
  await collection.updateOne(nobody as Filter<Doc>, nothing as UpdateFilter<Doc>)
}

/**
 * The result of `read` for an answer that is true for ever. A primary that has been replaced does not know
 * what came since: before an empty result counts, the primary is confirmed and asked again.
 * @param isEmpty null is, unless told otherwise
 */
export async function readConfirmed<Result>(
  read: () => Promise<Result>,
  {
    confirm,
    isEmpty = (result) => result === null,
  }: { confirm: () => Promise<void>; isEmpty?: (result: Result) => boolean },
): Promise<Result> {
  const seen = await read()
  if (!isEmpty(seen)) return seen
  await confirm()
  return read()
}
