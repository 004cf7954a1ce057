import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { connectionOptions } from '@pitboss/bus/connection-options'
import { connectStorage, type Storage } from '@pitboss/storage/connect-storage'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { connect, nanos } from 'nats'
import pino from 'pino'
import { Pool } from 'undici'
import { z } from 'zod'
import { createFloorRelay, type FloorRelay } from './floor-relay.ts'
import { runLoad } from './run-load.ts'
import { given, servePart } from './serve-part.ts'

/** The parts that a floor's work gets. */
export type Floor = { db: Storage['db']; relay: FloorRelay['relay']; wallet: Pool }

const order = z.object({ concurrency: z.number(), durationMs: z.number() })
const subject = 'floor.events'

/**
 * The other end of `startFloor`: one process that runs the load and does the work, on a database and a stream
 * of its own.
 */
export async function serveFloor({
  database,
  indexes,
  workOf,
}: {
  database: string
  indexes: Parameters<typeof ensureIndexes>[1]
  /** Gives the work again for each measured stretch. */
  workOf: (floor: Floor) => () => (caller: number) => Promise<void>
}): Promise<void> {
  const { db } = await connectStorage({
    url: given('MONGODB_URL'),
    database,
    logger: pino({ level: 'warn' }, pino.destination(2)),
  })
  await ensureIndexes(db, indexes)
  const nc = await connect(connectionOptions({ url: given('NATS_URL'), service: 'floor' }))
  const manager = await jetstreamManager(nc)
  await manager.streams.add({
    name: 'FLOOR',
    subjects: [subject],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    duplicate_window: nanos(300_000),
  })
  const wallet = new Pool(given('WALLET_URL'), { connections: 64 })
  const { relay, finish } = createFloorRelay({ db, js: jetstream(nc), subject })
  const newWork = workOf({ db, relay, wallet })
  servePart({ ready: true }, async (message) => runLoad({ ...order.parse(message), work: newWork(), finish }))
}
