import type { Collection, Document } from 'mongodb'

/**
 * Fills collections without their indexes and makes these again afterwards: built once at the end, an index
 * costs a fraction of what it costs row by row. Nothing else may use the collections meanwhile.
 */
export async function withoutIndexes<Result>(
  collections: readonly Collection<Document & { _id: string }>[],
  fill: () => Promise<Result>,
  say: (text: string) => void,
): Promise<Result> {
  const dropped = await Promise.all(
    collections.map(async (collection) => {
      const present = await collection.listIndexes().toArray()
      const indexes = present.filter(({ name }) => name !== '_id_')
      for (const { name } of indexes) await collection.dropIndex(String(name))
      return { collection, indexes }
    }),
  )
  const result = await fill()
  for (const { collection, indexes } of dropped) {
    const startedMs = performance.now()
    for (const { key, name, unique, partialFilterExpression, expireAfterSeconds } of indexes) {
      await collection.createIndex(key, {
        name,
        ...(unique === true ? { unique } : {}),
        ...(partialFilterExpression === undefined ? {} : { partialFilterExpression }),
        ...(expireAfterSeconds === undefined ? {} : { expireAfterSeconds: Number(expireAfterSeconds) }),
      })
    }
    say(
      `${indexes.length} indexes of ${collection.collectionName}: ${((performance.now() - startedMs) / 1000).toFixed(0)} s`,
    )
  }
  return result
}
