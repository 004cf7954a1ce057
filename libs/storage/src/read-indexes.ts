import { type Db, type Document, MongoServerError } from 'mongodb'
import { z } from 'zod'
import type { IndexDeclaration } from './ensure-indexes.ts'

const unknownField = 40_415

const listed = z.object({
  cursor: z.object({ firstBatch: z.array(z.looseObject({ spec: z.looseObject({}).optional() })) }),
})

/**
 * The collection's indexes, and which of them are being built; it has at most 64, which are one batch.
 * DocumentDB refuses to be asked for builds, and has none that it lists: it makes an index in one
 * transaction.
 */
export async function readIndexes(
  db: Db,
  collection: string,
): Promise<(Document & { isBuilding: boolean })[]> {
  const list = { listIndexes: collection, cursor: {} }
  const answer = await db.command({ ...list, includeBuildUUIDs: true }).catch((error: unknown) => {
    if (!(error instanceof MongoServerError) || error.code !== unknownField) throw error
    return db.command(list)
  })
  // A ready index is its own description; around that of another one stands the build's id.
  return listed
    .parse(answer)
    .cursor.firstBatch.map(({ spec, ...index }) => ({ ...(spec ?? index), isBuilding: spec !== undefined }))
}

/** The first part in which a present index differs from its declaration; null for none. */
export function differenceOf(wanted: IndexDeclaration, present: Document): string | null {
  if (canonical(wanted.key) !== canonical(present.key)) return 'key'
  if ((wanted.unique ?? false) !== (present.unique ?? false)) return 'unique'
  if (canonical(wanted.partialFilterExpression) !== canonical(present.partialFilterExpression)) {
    return 'partialFilterExpression'
  }
  if (canonical(wanted.expireAfterSeconds) !== canonical(present.expireAfterSeconds))
    return 'expireAfterSeconds'
  return null
}

/** Key order counts in an index, so it is kept; numbers of any width are alike. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, field: unknown) =>
    typeof field === 'bigint' ? Number(field) : field,
  )
}
