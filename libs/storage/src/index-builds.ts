import { type Db, MongoServerError } from 'mongodb'
import { z } from 'zod'

/** How far a build has come: of `total` documents or keys of its present step `done` are. */
export type BuildProgress = { readonly done: number; readonly total: number }

const progressSchema = z.object({ done: z.coerce.number(), total: z.coerce.number() })
const operations = z.object({
  inprog: z.array(z.looseObject({ command: z.looseObject({}).optional(), progress: z.unknown().optional() })),
})

/**
 * How far the index builds of this database have come, by collection. Only a login with the privilege
 * `inprog` sees those of the server: for another one, and for a server that tells nothing, it is empty.
 */
export async function readBuilds(db: Db): Promise<ReadonlyMap<string, BuildProgress>> {
  const answer = await db
    .admin()
    .command({ currentOp: true })
    .catch((error: unknown) => {
      if (error instanceof MongoServerError) return { inprog: [] }
      throw error
    })
  const found = new Map<string, BuildProgress>()
  for (const { command, progress } of operations.parse(answer).inprog) {
    const collection = command?.createIndexes
    const read = progressSchema.safeParse(progress)
    if (typeof collection === 'string' && command?.$db === db.databaseName && read.success)
      found.set(collection, read.data)
  }
  return found
}
