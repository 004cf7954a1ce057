import { tryAgain } from '@pitboss/errors/service-error'
import type { Collection, Document, Filter, UpdateFilter, WithId } from 'mongodb'

/**
 * Changes a document that others change, too: decides again on a fresh copy each time somebody else was
 * first.
 * @param change writes the change under the version that it read; null when another write was first
 * @param reread the document as it is now
 * @throws ServiceError SERVICE_UNAVAILABLE when others were first `triesMax` times
 */
export async function changeFenced<Document, Result>({
  document,
  change,
  reread,
  triesMax,
  name,
}: {
  document: Document
  change: (current: Document) => Promise<Result | null>
  reread: (stale: Document) => Promise<Document>
  triesMax: number
  /** Name of the document that kept changing, for the log. */
  name: string
}): Promise<Result> {
  let current = document
  for (let tries = 0; tries < triesMax; tries++) {
    const result = await change(current)
    if (result !== null) return result
    current = await reread(current)
  }
  throw tryAgain(`${name} kept changing`)
}

/** Fields of every version-fenced document. */
export type Versioned = { _id: string; version: number }

/** The `_id` of a document, and its shard key where that is another, which never changes. */
export type DocumentKey = { readonly _id: string; readonly [field: string]: string }

/**
 * Applies `update` to the document only if it still has `version`, and raises the version by one.
 * @returns the document after it, or null when somebody else was first (or it is gone): read again and decide
 * again.
 */
export async function fencedUpdate<Doc extends Versioned>(
  collection: Collection<Doc>,
  key: DocumentKey,
  version: number,
  update: UpdateFilter<Doc>,
): Promise<WithId<Doc> | null> {
  return collection.findOneAndUpdate(fence<Doc>(key, version), raised(update), { returnDocument: 'after' })
}

/** As `fencedUpdate`, for a caller who knows the document after it. @returns whether this write was first */
export async function fencedWrite<Doc extends Versioned>(
  collection: Collection<Doc>,
  key: DocumentKey,
  version: number,
  update: UpdateFilter<Doc>,
): Promise<boolean> {
  const { matchedCount } = await collection.updateOne(fence<Doc>(key, version), raised(update))
  return matchedCount === 1
}

// The driver's types cannot see that a generic Doc has `_id` and `version`.
function fence<Doc extends Versioned>(key: DocumentKey, version: number): Filter<Doc> {
  const fields: Document = { ...key, version }
  return fields as Filter<Doc>
}

function raised<Doc extends Versioned>(update: UpdateFilter<Doc>): UpdateFilter<Doc> {
  const fields: Document = { ...update, $inc: { ...update.$inc, version: 1 } }
  return fields as UpdateFilter<Doc>
}
