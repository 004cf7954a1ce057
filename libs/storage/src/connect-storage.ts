import { type Db, MongoClient } from 'mongodb'
import type { Logger } from 'pino'

const serverSelectionTimeoutMs = 3000
const connectTimeoutMs = 3000
const socketTimeoutMs = 20_000
const poolSizeMax = 50

export type Storage = {
  readonly db: Db
  readonly client: MongoClient
  /** Whether the database answers, within 3 s. Never rejects. */
  readonly ping: () => Promise<boolean>
  readonly close: () => Promise<void>
}

/**
 * Connects to one service's database. Writes are `w: majority, j: true`, reads go to the primary. Undefined
 * fields are left out and 64-bit integers come and go as `bigint`. Returns at once when the first server has
 * answered.
 * @throws when none does within 3 s.
 */
export async function connectStorage({
  url,
  database,
  logger,
}: {
  url: string
  database: string
  logger: Logger
}): Promise<Storage> {
  const client = new MongoClient(url, {
    writeConcern: { w: 'majority', journal: true },
    readPreference: 'primary',
    ignoreUndefined: true,
    useBigInt64: true,
    serverSelectionTimeoutMS: serverSelectionTimeoutMs,
    connectTimeoutMS: connectTimeoutMs,
    socketTimeoutMS: socketTimeoutMs,
    maxPoolSize: poolSizeMax,
  })
  client.on('serverHeartbeatFailed', ({ failure }) => logger.warn({ err: failure }, 'database.unreachable'))
  await client.connect()
  const db = client.db(database)
  await db.command({ ping: 1 })
  return {
    db,
    client,
    async ping() {
      try {
        await db.command({ ping: 1 })
        return true
      } catch {
        return false
      }
    },
    close: () => client.close(),
  }
}
