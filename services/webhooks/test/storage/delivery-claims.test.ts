import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import type { AnyBulkWriteOperation } from 'mongodb'
import t from 'tap'
import { collectionsOf, type DeliveryDocument } from '../../src/storage/collections.ts'
import { createDeliveryClaims } from '../../src/storage/delivery-claims.ts'
import { indexes } from '../../src/all-wings.ts'
import { newDocument } from '../../src/storage/new-delivery.ts'

const db = await openTestDatabase(t)
await ensureIndexes(db, indexes)
const { deliveries } = collectionsOf(db)
const sent: AnyBulkWriteOperation<DeliveryDocument>[][] = []
const watched: typeof deliveries = Object.create(deliveries, {
  bulkWrite: {
    value(operations: AnyBulkWriteOperation<DeliveryDocument>[], options: object) {
      sent.push(operations)
      return deliveries.bulkWrite(operations, options)
    },
  },
})
const { claim, complete } = createDeliveryClaims({ deliveries: watched })

const [first, second] = [new Date(1000), new Date(2000)]
const document = (_id: string, createdAt: Date) =>
  newDocument({
    ...{ _id, operatorId: 'op', environment: 'SANDBOX', webhookId: 'whe', eventId: 'evt' },
    ...{ eventType: 'round.completed', lane: 'fresh', createdAt },
  })
const now = new Date(5000)

t.beforeEach(async () => {
  await deliveries.deleteMany({})
  sent.length = 0
})

t.test('claims of what is due since one moment are one update, and each is claimed', async (t) => {
  const due = [document('a', first), document('b', first), document('c', second), document('d', first)]
  await deliveries.insertMany(due)
  const claimed = await claim(due, 7, now)
  t.strictSame(
    claimed.map(({ _id, claimToken, attemptCount }) => [_id, claimToken, attemptCount]),
    ['a', 'b', 'c', 'd'].map((id) => [id, 7, 1]),
  )
  t.equal(sent.flat().length, 2)
  t.equal(await deliveries.countDocuments({ claimToken: 7, attemptCount: 1, claimedAt: now }), 4)
})

t.test('of claims made together each is refused that somebody else has changed since', async (t) => {
  const due = ['a', 'b', 'c', 'd', 'e'].map((id) => document(id, first))
  await deliveries.insertMany(due)
  await deliveries.updateOne({ _id: 'a' }, { $set: { claimToken: 6, attemptCount: 1 } })
  await deliveries.updateOne({ _id: 'b' }, { $set: { status: 'HELD' } })
  await deliveries.updateOne({ _id: 'c' }, { $set: { dueAt: second } })
  await deliveries.updateOne({ _id: 'd' }, { $set: { attemptCount: 1 } })
  const claimed = await claim(due, 7, now)
  t.strictSame(
    claimed.map(({ _id }) => _id),
    ['e'],
  )
  t.equal(await deliveries.countDocuments({ claimToken: 7 }), 1)
})

t.test('a claim is written behind the completions that were asked for before it', async (t) => {
  const due = ['a', 'b', 'c'].map((id) => document(id, first))
  await deliveries.insertMany(due)
  const [done] = await claim(due.slice(0, 1), 7, now)
  if (done === undefined) throw new Error('it was not claimed')
  sent.length = 0
  // The first is under way by itself; the others wait for it and go together.
  const alone = claim(due.slice(1, 2), 7, now)
  const attempt = {
    ...{ attempt: 1, sentAt: now, durationMs: 3, httpStatus: 200, error: null },
    ...{ responseExcerpt: null, timings: null, hint: null, storedAt: now },
  }
  const [isDone, claimed] = await Promise.all([
    complete(done, { status: 'DELIVERED' }, attempt),
    claim(due.slice(2), 7, now),
    alone,
  ])
  t.ok(isDone)
  t.equal(claimed.length, 1)
  t.strictSame(
    sent.at(-1)?.map((operation) => Object.keys(operation)[0]),
    ['updateOne', 'updateMany'],
  )
})
