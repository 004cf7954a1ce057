import { type Clock, systemClock } from '@pitboss/runtime/clock'
import { startPoll } from '@pitboss/runtime/poll'
import { isLoopbackMongodb } from '@pitboss/runtime/production-rules'
import type { ServiceHost } from '@pitboss/runtime/run-service'
import { isTracing } from '@pitboss/tracing/spans'
import { type Db, type Document, MongoClient } from 'mongodb'
import { clockAgrees } from '@pitboss/runtime/while-clock-agrees'
import type { Logger } from 'pino'
import { endClosedWrites } from './end-closed-writes.ts'
import { traceCommands } from './trace-commands.ts'
import { assertOwnDatabaseAlone, databaseOf } from './foreign-databases.ts'

const serverSelectionTimeoutMs = 3000
const connectTimeoutMs = 3000
const socketTimeoutMs = 20_000
const poolSizeMax = 50
/** A busy pool lets an operation wait this long for a connection. */
const waitQueueTimeoutMs = 5000
/** A write that a majority has not taken by then has an unknown outcome. */
const writeConcernTimeoutMs = 5000
const lookEveryMs = 5000

/** A clock that is slewed gains or loses less than this between two looks. */
const leastJumpMs = 20

export type Storage = Awaited<ReturnType<typeof connectStorage>>

/**
 * Connects to one service's database. Writes are `w: majority, j: true` and wait at most 5 s for the
 * majority; reads go to the primary and see what a majority has taken. Undefined fields are left out and
 * 64-bit integers come and go as `bigint`. Returns at once when the first server has answered.
 * @throws when none does within 3 s.
 */
export async function connectStorage({
  url,
  database,
  logger,
  clock = systemClock,
  steadyMs = () => performance.now(),
}: {
  url: string
  database: string
  logger: Logger
  clock?: Clock
  /** Milliseconds of a clock that never jumps. */
  steadyMs?: () => number
}) {
  endClosedWrites()
  const common = {
    readConcern: { level: 'majority' },
    readPreference: 'primary',
    ignoreUndefined: true,
    useBigInt64: true,
    serverSelectionTimeoutMS: serverSelectionTimeoutMs,
    connectTimeoutMS: connectTimeoutMs,
  } as const
  const client = new MongoClient(url, {
    ...common,
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: writeConcernTimeoutMs },
    socketTimeoutMS: socketTimeoutMs,
    waitQueueTimeoutMS: waitQueueTimeoutMs,
    maxPoolSize: poolSizeMax,
    monitorCommands: isTracing(),
  })
  /**
   * Runs `work` on connections of its own that wait for an answer for as long as it takes: an index of a
   * large collection is built for hours. There are two, so that one can ask how far the other one's work is.
   */
  async function patiently<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
    const own = new MongoClient(url, {
      ...common,
      writeConcern: { w: 'majority', journal: true },
      socketTimeoutMS: 0,
      maxPoolSize: 2,
    })
    try {
      return await work(own.db(database))
    } finally {
      await own.close()
    }
  }
  if (isTracing()) traceCommands(client)
  client.on('serverHeartbeatFailed', ({ failure }) => logger.warn({ err: failure }, 'database.unreachable'))
  await client.connect()
  const db = client.db(database)
  /** By how much the clock is before the steady one, and before the database's, at the last answer. */
  const startedAtMs = () => clock.now().getTime() - steadyMs()
  let compared = { startedAtMs: startedAtMs(), aheadMs: 0 }
  let said = true

  async function look(): Promise<void> {
    const sentAtMs = clock.now().getTime()
    const hello = await db.command({ hello: 1 })
    const aheadMs = clockDifferenceMs(sentAtMs, clock.now().getTime(), hello)
    compared = { startedAtMs: startedAtMs(), aheadMs }
    if (agrees() !== said) logger[said ? 'error' : 'info']({ clock_ahead_ms: aheadMs }, 'clock.compared')
    said = agrees()
  }
  /**
   * The two clocks of one machine are read one after the other, so below a few milliseconds nothing has
   * jumped.
   */
  const jumpedMs = () => {
    const ms = startedAtMs() - compared.startedAtMs
    return Math.abs(ms) < leastJumpMs ? 0 : Math.round(ms)
  }
  /**
   * Milliseconds that this machine's clock is ahead of the database's at the least (negative: behind): as of
   * the last answer, which is seconds old at most while the database answers, and what the clock has jumped
   * since. A jump is seen at once, since no jump moves the time that the process has run.
   */
  const clockAheadMs = () => compared.aheadMs + jumpedMs()
  /** Whether the two clocks differ by at most 1.5 s. */
  const agrees = () => clockAgrees(clockAheadMs())
  /** Milliseconds that `clock` is ahead of the database's (negative: behind): at most 1.5 s either way. */
  const clockOffsetMs = () => (agrees() ? clockAheadMs() : 0)
  /** Whether the database answers, within 3 s. Never rejects. */
  const ping = () =>
    look().then(
      () => true,
      () => false,
    )

  await look()
  // The driver's own heartbeat tells of a database that does not answer.
  const looking = startPoll({
    event: 'database.look-failed',
    everyMs: lookEveryMs,
    work: async () => {
      await ping()
    },
    logger,
  })
  return {
    db,
    client,
    patiently,
    ping,
    clockAheadMs,
    clockAgrees: agrees,
    /**
     * This machine's clock, and the database's time while they differ by more: what is under way when a clock
     * jumps is dated as all others date it.
     */
    clock: { now: () => new Date(clock.now().getTime() - clockAheadMs() + clockOffsetMs()) },
    clockOffsetMs,
    async close(): Promise<void> {
      await looking.stop()
      await client.close()
    },
  }
}

/**
 * Connects a service to its database and makes `/readyz` say when the database does not answer (`database`)
 * or its clock differs too much from this machine's (`clock`).
 * @throws ConfigError in production for a login, elsewhere than on this machine, that reaches another
 * service's database
 */
export async function connectServiceStorage({
  service,
  config,
  host,
}: {
  service: string
  config: {
    readonly NODE_ENV: string
    readonly MONGODB_URL: string
    readonly PITBOSS_DATABASE_PREFIX: string
  }
  host: Pick<ServiceHost, 'logger' | 'check'>
}): Promise<Storage> {
  const { MONGODB_URL: url, PITBOSS_DATABASE_PREFIX: prefix } = config
  const storage = await connectStorage({ url, database: databaseOf(prefix, service), logger: host.logger })
  if (config.NODE_ENV === 'production' && !isLoopbackMongodb(url)) {
    await assertOwnDatabaseAlone(storage.client, { prefix, service }).catch(async (error: unknown) => {
      await storage.close()
      throw error
    })
  }
  host.check('database', () => storage.ping())
  host.check('clock', () => storage.clockAgrees())
  return storage
}

/** The least difference that one exchange allows: the server's time lies between question and answer. */
function clockDifferenceMs(sentAtMs: number, receivedAtMs: number, hello: Document): number {
  const serverAtMs: number = hello.localTime instanceof Date ? hello.localTime.getTime() : sentAtMs
  return Math.max(0, sentAtMs - serverAtMs) + Math.min(0, receivedAtMs - serverAtMs)
}
