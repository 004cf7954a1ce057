import { randomBytes, randomUUID } from 'node:crypto'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { type Collections, collectionsOf } from '@pitboss/webhooks/storage/collections'
import { indexes } from '@pitboss/webhooks/all-wings'
import { type NewDelivery, newDocument } from '@pitboss/webhooks/storage/new-delivery'
import { createDeliveryStore, type DeliveryStore } from '@pitboss/webhooks/storage/delivery-store'
import { never } from '@pitboss/webhooks/storage/collections'
import { type Db, MongoClient } from 'mongodb'
import type { Cleanup } from '../harness/cleanup.ts'
import { createLatencyRecorder, type Latency, type LatencyRecorder } from '../harness/latency.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import type { Measured } from '../harness/measured.ts'
import { createWorld } from './start-service.ts'

const storedFew = 1000
const chunk = 500
const insertsAtOnce = 2
const endpointCount = 200
const rounds = 200
const claimed = 8
const warmUpRounds = 20

type Side = Pick<Collections, 'deliveries'> & {
  store: DeliveryStore
  latency: LatencyRecorder
}

/**
 * Looking for what waits and claiming eight of it, in a database with 10^3 ended deliveries and in one with
 * `stored` of them, turn by turn, so that a busy machine slows both alike.
 */
export async function measureStored(
  stored: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const { engines } = await createWorld(cleanup)
  // Without the services' time-outs: an index over a million documents takes its time.
  const client = await MongoClient.connect(engines.mongodbUrl, {
    writeConcern: { w: 'majority', journal: true },
  })
  cleanup.add(() => client.close())
  const endpoints = Array.from({ length: endpointCount }, () => `whe_${randomBytes(13).toString('hex')}`)
  say(`storing ${storedFew} and ${stored} deliveries`)
  const few = await filled(client.db('bench_few'), endpoints, storedFew)
  const many = await filled(client.db('bench_many'), endpoints, stored)
  say('claims, turn by turn')
  for (let round = 0; round < rounds + warmUpRounds; round++) {
    const webhookId = endpoints[round % endpoints.length] ?? ''
    for (const side of [few, many]) await claimOnce(side, webhookId, round >= warmUpRounds)
  }
  const [least, most] = [few.latency.read(), many.latency.read()]
  const ratio = most.p50 / least.p50
  const row = (count: number, latency: Latency) => [String(count), ...latencyCells(latency)]
  return {
    result: { engines: engines.kinds, stored, few: least, many: most, ratio },
    text: `${renderTable(['claim of 8 beside', 'p50 ms', 'p95 ms', 'p99 ms'], [row(storedFew, least), row(stored, most)])}

ratio of the medians: ${ratio.toFixed(2)} (goal: at most 1.3)`,
  }
}

async function filled(db: Db, endpoints: readonly string[], count: number): Promise<Side> {
  const collections = collectionsOf(db)
  await fill(collections, endpoints, count)
  // Built once at the end, an index costs a fraction of what it costs row by row.
  await ensureIndexes(db, indexes)
  return {
    deliveries: collections.deliveries,
    store: createDeliveryStore(collections),
    latency: createLatencyRecorder(),
  }
}

const idOf = () => `dlv_${randomBytes(16).toString('hex')}`

function made(webhookId: string, createdAt: Date): NewDelivery {
  return {
    _id: idOf(),
    operatorId: randomUUID(),
    environment: 'SANDBOX',
    webhookId,
    eventId: `evt_${randomBytes(13).toString('hex')}`,
    eventType: 'transaction.bet',
    lane: 'fresh',
    createdAt,
  }
}

/** Delivered ones, spread over the endpoints. */
async function fill({ deliveries }: Collections, endpoints: readonly string[], count: number): Promise<void> {
  let left = count
  const at = new Date()
  const ended = {
    status: 'DELIVERED',
    attemptCount: 1,
    deliveredAt: at,
    dueAt: never,
    nextAttemptAt: null,
  } as const
  const insert = async () => {
    while (left > 0) {
      const size = Math.min(chunk, left)
      left -= size
      await deliveries.insertMany(
        Array.from({ length: size }, (_, index) => ({
          ...newDocument(made(endpoints[(left + index) % endpoints.length] ?? '', at)),
          ...ended,
        })),
        { ordered: false },
      )
    }
  }
  await Promise.all(Array.from({ length: insertsAtOnce }, insert))
}

/** Looks for eight due deliveries made just before and claims them, as a worker does. */
async function claimOnce(
  { deliveries, store, latency }: Side,
  webhookId: string,
  counted: boolean,
): Promise<void> {
  const at = new Date(Date.now() - 1000)
  await store.insertAbsent(Array.from({ length: claimed }, () => newDocument(made(webhookId, at))))
  const fromMs = performance.now()
  const { lanes } = await store.upcoming(webhookId, 2 * claimed)
  const taken = await store.claim(lanes.fresh.slice(0, claimed), 1, new Date())
  if (counted) latency.record(performance.now() - fromMs)
  if (taken.length !== claimed) throw new Error(`claimed ${taken.length} of ${claimed}`)
  await deliveries.updateMany(
    { _id: { $in: taken.map(({ _id }) => _id) } },
    { $set: { status: 'DELIVERED', claimToken: 0 } },
  )
}
