import type { Collection } from 'mongodb'
import { createGroup } from './command-turns.ts'

const commandsMax = 4
const idsMax = 128

/**
 * Gathers the finds by id of one process into few commands (`createGroup`): each caller gets what a find of
 * its own would find.
 * @param find finds at most 128 documents by one command; what it throws reaches each of its callers
 */
export function createGroupFind<Document extends { readonly _id: string }>(
  find: (ids: readonly string[]) => Promise<readonly Document[]>,
): (id: string) => Promise<Document | null> {
  return createGroup<string, Document | null>({
    ...{ groupMax: idsMax, commandsMax },
    async run(ids) {
      const found = await find([...new Set(ids)])
      const documents = new Map(found.map((document) => [document._id, document]))
      return ids.map((id) => documents.get(id) ?? null)
    },
  })
}

/**
 * Finds documents by their ids with one command of our own: the driver's cursor takes a third more processor
 * time. What fails is found by the driver, which repeats a read after an election.
 */
export async function findByIds<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
  ids: readonly string[],
): Promise<readonly Document[]> {
  const { collectionName, db, readConcern } = collection
  const filter = { _id: { $in: [...ids] } }
  const size = { batchSize: ids.length, singleBatch: true }
  try {
    const command = { find: collectionName, filter, ...size, readConcern: readConcern?.toJSON() }
    const { cursor } = await db.command(command, { useBigInt64: true, ignoreUndefined: true })
    return cursor.firstBatch
  } catch {
    return (await collection.find(filter as never).toArray()) as unknown as Document[]
  }
}
