import { randomBytes, randomUUID } from 'node:crypto'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { type Collections, collectionsOf, indexes } from '@pitboss/webhooks/storage/collections'
import { createDeliveryQueue, type NewDelivery, newDocument } from '@pitboss/webhooks/storage/delivery-queue'
import { never } from '@pitboss/webhooks/storage/documents'
import type { Cleanup } from '../harness/cleanup.ts'
import { createLatencyRecorder, type Latency } from '../harness/latency.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import type { Measured } from './measured.ts'
import { createWorld } from './start-service.ts'

const storedFew = 1000
const chunk = 500
const insertsAtOnce = 2
const endpointCount = 200
const rounds = 200
const claimed = 8
const warmUpRounds = 20

/** Looking for what waits and claiming eight of it, beside 10^3 ended deliveries and beside `stored` of them. */
export async function measureStored(
  stored: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const { storage, kinds } = await createWorld(cleanup)
  const collections = collectionsOf(storage.db)
  await ensureIndexes(storage.db, indexes)
  const endpoints = Array.from({ length: endpointCount }, () => `whe_${randomBytes(13).toString('hex')}`)
  await fill(collections, endpoints, storedFew)
  say(`claims beside ${storedFew} stored deliveries`)
  const few = await timeClaims(collections, endpoints)
  say(`storing ${stored} deliveries`)
  await fill(collections, endpoints, stored - storedFew)
  say(`claims beside ${stored} stored deliveries`)
  const many = await timeClaims(collections, endpoints)
  const ratio = many.p50 / few.p50
  const row = (count: number, latency: Latency) => [String(count), ...latencyCells(latency)]
  return {
    result: { engines: kinds, stored, few, many, ratio },
    text: `${renderTable(['claim of 8 beside', 'p50 ms', 'p95 ms', 'p99 ms'], [row(storedFew, few), row(stored, many)])}

ratio of the medians: ${ratio.toFixed(2)} (goal: at most 1.3)`,
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

/** Of an endpoint's eight due deliveries each time: what a worker does when it looks for work and takes it. */
async function timeClaims(collections: Collections, endpoints: readonly string[]): Promise<Latency> {
  const queue = createDeliveryQueue(collections)
  const latency = createLatencyRecorder()
  for (let round = 0; round < rounds + warmUpRounds; round++) {
    const webhookId = endpoints[round % endpoints.length] ?? ''
    const at = new Date(Date.now() - 1000)
    await queue.create(Array.from({ length: claimed }, () => made(webhookId, at)))
    const fromMs = performance.now()
    const { lanes } = await queue.upcoming(webhookId)
    const taken = await queue.claim(lanes.fresh.slice(0, claimed), round + 1, new Date())
    if (round >= warmUpRounds) latency.record(performance.now() - fromMs)
    if (taken.length !== claimed) throw new Error(`claimed ${taken.length} of ${claimed}`)
    await collections.deliveries.updateMany(
      { _id: { $in: taken.map(({ _id }) => _id) } },
      { $set: { status: 'DELIVERED', claimToken: 0 } },
    )
  }
  return latency.read()
}
