import { ServiceError } from '@pitboss/errors/service-error'
import type { Collection } from 'mongodb'
import { isOnlyDuplicates } from '../create-once.ts'
import { createGroupCommit, type Landed } from './group-commit.ts'

const answeredWithinMs = 10_000

/**
 * Gathers the inserts of one process into a collection, of all callers together (`createGroupCommit`).
 * @param bytesOf the size of a document, about
 * @returns a function that inserts documents and returns the fate of each. It throws ServiceError
 *   SERVICE_UNAVAILABLE when the database does not answer within 10 s: they may land until 30 s later
 */
export function createInsertTogether<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
  bytesOf: (document: Document) => number,
  limits: { readonly documentsMax?: number; readonly commandsMax?: number } = {},
): (documents: readonly Document[]) => Promise<readonly Landed[]> {
  const group = createGroupCommit<Document>({
    insert: (documents) => insertUnordered(collection, documents),
    bytesOf,
    ...limits,
  })
  return async (documents) => {
    const landed = await group.insert(documents, performance.now() + answeredWithinMs)
    if (landed !== 'unknown') return landed
    const cause = new Error(`${collection.collectionName} did not take ${documents[0]?._id} in time`)
    throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })
  }
}

/** @throws the driver's error when it is not known what of the insert stands. */
export async function insertUnordered<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
  documents: readonly Document[],
): Promise<readonly Landed[]> {
  try {
    await collection.insertMany(documents as never, { ordered: false })
    return documents.map(() => 'inserted')
  } catch (error) {
    if (!isOnlyDuplicates(error)) throw error
    const present = new Set(error.result.getWriteErrors().map(({ index }) => index))
    return documents.map((_, index) => (present.has(index) ? 'present' : 'inserted'))
  }
}
