import type { Collection, Document, Filter } from 'mongodb'

/** As many documents are sorted within milliseconds. */
const fewMax = 2000

/**
 * Whether an index that does not have the order of a list finds few documents, so that they can be sorted.
 * When they are many, the list's own index meets them soon. Source: ours.
 */
export async function areFew<Row extends Document>(
  collection: Collection<Row>,
  filter: Filter<Row>,
  hint: string,
): Promise<boolean> {
  return Number(await collection.countDocuments(filter, { hint, limit: fewMax })) < fewMax
}
