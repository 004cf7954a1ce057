import { isOnlyDuplicates } from '@pitboss/storage/create-once'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { MongoBulkWriteError } from 'mongodb'
import t from 'tap'
import { collectionsOf } from '../../src/storage/collections.ts'
import { createDeliveryStore } from '../../src/storage/delivery-store.ts'
import { type NewDelivery, newDocument } from '../../src/storage/new-delivery.ts'
import { indexes } from '../../src/all-wings.ts'
import { afterAttempt, freshHealth, nextProbe } from '../../src/rules/endpoint-health.ts'

const db = await openTestDatabase(t)
await ensureIndexes(db, indexes)
const collections = collectionsOf(db)
const { insertAbsent, probe } = createDeliveryStore(collections)

const delivery = (_id: string): NewDelivery => ({
  ...{ _id, operatorId: 'op', environment: 'SANDBOX', webhookId: 'whe', eventId: 'evt' },
  ...{ eventType: 'round.completed', lane: 'fresh', createdAt: new Date(1000) },
})
const insert = (...ids: readonly string[]) => insertAbsent(ids.map((id) => newDocument(delivery(id))))

t.test('deliveries that exist stay as they are, and all others are made', async (t) => {
  await insert('a', 'b')
  await collections.deliveries.updateOne({ _id: 'a' }, { $set: { status: 'DELIVERED', attemptCount: 3 } })
  await insert('a', 'c', 'b', 'd')
  const found = await collections.deliveries.find().sort({ _id: 1 }).toArray()
  t.strictSame(
    found.map(({ _id, status, attemptCount }) => [_id, status, attemptCount]),
    [
      ['a', 'DELIVERED', 3],
      ['b', 'PENDING', 0],
      ['c', 'PENDING', 0],
      ['d', 'PENDING', 0],
    ],
  )
  await insert()
})

t.test('of makers at once each delivery has one', async (t) => {
  const ids = Array.from({ length: 40 }, (_, index) => `at-once-${index}`)
  await Promise.all(Array.from({ length: 6 }, () => insert(...ids)))
  t.equal(await collections.deliveries.countDocuments({ _id: { $in: ids } }), ids.length)
})

t.test('another failure than a duplicate is not passed over', async (t) => {
  const things = db.collection<{ _id: string; value: string }>('things')
  await things.createIndex({ value: 1 }, { unique: true })
  const refused = await things
    .insertMany(
      [
        { _id: '1', value: 'x' },
        { _id: '2', value: 'x' },
      ],
      { ordered: false },
    )
    .then(() => null)
    .catch((error: unknown) => error)
  t.ok(refused instanceof MongoBulkWriteError && isOnlyDuplicates(refused))
  t.equal(isOnlyDuplicates(new Error('another')), false)
})

/** Probes until these events have arrived at a receiver that refuses `transaction.win`. @returns how many */
async function probesUntil(webhookId: string, arrived: ReadonlySet<string>): Promise<number> {
  const opened = Array.from({ length: 10 }, () => 'transaction.win' as const)
  const after = (health: typeof freshHealth, eventType: NewDelivery['eventType'], isProbe: boolean) =>
    afterAttempt(
      health,
      {
        ...{ at: new Date(5000), ok: eventType !== 'transaction.win', gone: false, probe: isProbe },
        ...{ exhausted: false, firstAttemptAt: new Date(1000), failedInStreak: null, eventType },
      },
      (ms) => ms,
    )
  let health = opened.reduce((current, type) => after(current, type, false), freshHealth)
  for (let probes = 1; probes <= 100; probes++) {
    const due = await probe(webhookId, nextProbe(health), new Date(1_000_000 + probes))
    if (due === null) return Number.NaN
    health = after(health, due.eventType, true)
    if (due.eventType !== 'transaction.win') {
      await collections.deliveries.updateOne({ _id: due._id, webhookId }, { $set: { status: 'DELIVERED' } })
      // The backlog that follows the closed breaker is refused again.
      health = opened.reduce((current, type) => after(current, type, false), health)
    } else {
      const dueAt = new Date(1_000_000 + probes)
      await collections.deliveries.updateOne({ _id: due._id, webhookId }, { $set: { dueAt, lane: 'retry' } })
    }
    const left = await collections.deliveries.countDocuments({
      _id: { $in: [...arrived] },
      status: 'PENDING',
    })
    if (left === 0) return probes
  }
  return Number.POSITIVE_INFINITY
}

t.test(
  'what an endpoint takes is probed soon, however much of what it refuses waits before it',
  async (t) => {
    for (const lane of ['retry', 'fresh'] as const) {
      const webhookId = `whe-${lane}`
      const waiting = (id: string, eventType: NewDelivery['eventType'], atMs: number) => ({
        ...newDocument({ ...delivery(`${lane}-${id}`), webhookId, eventType, createdAt: new Date(atMs) }),
        ...{ lane, attemptCount: lane === 'fresh' ? 0 : 1, dueAt: new Date(atMs) },
      })
      const refused = Array.from({ length: 100 }, (_, at) =>
        waiting(`win-${at}`, 'transaction.win', 1000 + at),
      )
      const taken = [waiting('bet-1', 'transaction.bet', 2000), waiting('bet-2', 'transaction.bet', 2001)]
      await collections.deliveries.insertMany([...refused, ...taken])
      const probes = await probesUntil(webhookId, new Set(taken.map(({ _id }) => _id)))
      t.ok(probes <= 6, `${probes} probes until both have arrived, ${lane}`)
    }
  },
)
