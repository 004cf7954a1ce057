import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { connectionOptions } from '@pitboss/bus/connection-options'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { movementIndexes } from '@pitboss/wallet-bridge/storage/movement-document'
import { connect, nanos } from 'nats'
import pino from 'pino'
import { Pool } from 'undici'
import { z } from 'zod'
import { runLoad } from '../harness/run-load.ts'
import { given, servePart } from '../harness/serve-part.ts'
import { createFloorMovements } from './floor-movement.ts'
import { byTurns } from './make-movement.ts'

/* The bare movement: one process that runs the load and does the work, with the indexes that the product keeps. */

const order = z.object({ concurrency: z.number(), durationMs: z.number() })
const subject = 'floor.events'

const { db } = await connectStorage({
  url: given('MONGODB_URL'),
  database: 'floor_movement',
  logger: pino({ level: 'warn' }, pino.destination(2)),
})
await ensureIndexes(db, movementIndexes)
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
const { move, finish } = createFloorMovements({ db, js: jetstream(nc), subject, wallet })

servePart({ ready: true }, async (message) =>
  runLoad({ ...order.parse(message), work: byTurns(move), finish }),
)
