import { randomBytes } from 'node:crypto'
import { AckPolicy, jetstream, jetstreamManager, type JsMsg } from '@nats-io/jetstream'
import { connectionOptions } from '@pitboss/bus/connection-options'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { connect } from 'nats'
import pino from 'pino'
import { Pool } from 'undici'
import { given, servePart } from '../harness/serve-part.ts'
import { eventBatch, eventStream } from './play-messages.ts'

/*
 * The bare webhooks: a log of the events in one insert per message, a signed POST of each, and one record of
 * a whole range of deliveries.
 */

type LogEntry = { _id: string; eventId: string; seq: number; recordedAt: Date; roundId: string; body: string }
type Range = { _id: string; at: Date; to: number; outcomes: string }

const { db } = await connectStorage({
  url: given('MONGODB_URL'),
  database: 'floor_hooks',
  logger: pino({ level: 'warn' }, pino.destination(2)),
})
await ensureIndexes(db, {
  log: [
    { name: 'round', key: { roundId: 1 } },
    { name: 'event', key: { eventId: 1 } },
  ],
  ranges: [],
})
const log = db.collection<LogEntry>('log')
const ranges = db.collection<Range>('ranges')
const bus = await connect(connectionOptions({ url: given('NATS_URL'), service: 'floor-hooks' }))
const durable = 'floor-hooks'
const manager = await jetstreamManager(bus)
await manager.consumers.add(eventStream, {
  durable_name: durable,
  ack_policy: AckPolicy.Explicit,
  max_ack_pending: 64,
})
const consumer = await jetstream(bus).consumers.get(eventStream, durable)
const receiver = new Pool(given('RECEIVER_URL'), { connections: 8 })
const secret = randomBytes(32).toString('hex')
const numbered = (seq: number) => String(seq).padStart(12, '0')
let seq = 0
let sent = 0

async function post({ eventId, body }: LogEntry): Promise<string> {
  const startedMs = performance.now()
  const timestamp = signatureTimestamp(new Date())
  const { statusCode, body: answer } = await receiver.request({
    method: 'POST',
    path: '/',
    headers: {
      'content-type': 'application/json',
      'x-svc-event-id': eventId,
      'x-timestamp': timestamp,
      'x-signature': signBody(secret, timestamp, body),
    },
    body,
  })
  await answer.text()
  sent++
  return `${eventId},${Math.round(performance.now() - startedMs)},${statusCode}`
}

async function recordAndDeliver(message: JsMsg): Promise<void> {
  const at = new Date()
  const entries = eventBatch.parse(JSON.parse(message.string())).map((event) => {
    const number = ++seq
    return {
      _id: `floor/${numbered(number)}`,
      eventId: event.id,
      seq: number,
      recordedAt: at,
      roundId: event.data.round_id,
      body: JSON.stringify(event),
    }
  })
  const [first, last] = [entries[0], entries.at(-1)]
  if (first === undefined || last === undefined) return message.ack()
  await log.insertMany(entries, { ordered: true })
  const outcomes = (await Promise.all(entries.map(post))).join(';')
  await ranges.insertOne({ _id: `whe/${numbered(first.seq)}`, at, to: last.seq, outcomes })
  message.ack()
}

servePart({ ready: true }, async () => ({ sent }))
for await (const message of await consumer.consume({ max_messages: 64 })) void recordAndDeliver(message)
