import type { Collection, Document, Filter, UpdateFilter, WithId } from 'mongodb'

/** Fields of every version-fenced document. */
export type Versioned = { _id: string; version: number }

/**
 * Applies `update` to the document only if it still has `version`, and raises the version by one.
 * @returns the document after it, or null when somebody else was first (or it is gone): read again and decide
 * again.
 */
export async function fencedUpdate<Doc extends Versioned>(
  collection: Collection<Doc>,
  id: string,
  version: number,
  update: UpdateFilter<Doc>,
): Promise<WithId<Doc> | null> {
  // The driver's types cannot see that a generic Doc has `_id` and `version`.
  const fence: Document = { _id: id, version }
  const raised: Document = { ...update, $inc: { ...update.$inc, version: 1 } }
  return collection.findOneAndUpdate(fence as Filter<Doc>, raised as UpdateFilter<Doc>, {
    returnDocument: 'after',
  })
}
