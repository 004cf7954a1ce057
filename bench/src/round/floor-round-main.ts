import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { connectionOptions } from '@pitboss/bus/connection-options'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { connect, nanos } from 'nats'
import pino from 'pino'
import { Pool } from 'undici'
import { z } from 'zod'
import { runLoad } from '../harness/run-load.ts'
import { given, servePart } from '../harness/serve-part.ts'
import { floorIndexes } from './floor-indexes.ts'
import { createFloorRounds } from './floor-round.ts'

/* The bare round: one process that runs the load and does the work. */

const order = z.object({ concurrency: z.number(), durationMs: z.number() })
const subject = 'floor.events'

const { db } = await connectStorage({
  url: given('MONGODB_URL'),
  database: 'floor_round',
  logger: pino({ level: 'warn' }, pino.destination(2)),
})
await ensureIndexes(db, floorIndexes)
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
const rounds = createFloorRounds({ db, js: jetstream(nc), subject, wallet })

servePart({ ready: true }, async (message) =>
  runLoad({ ...order.parse(message), work: rounds.play, finish: rounds.finish }),
)
