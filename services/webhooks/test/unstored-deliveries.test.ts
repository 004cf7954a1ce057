import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { waitFor } from '@pitboss/testing/wait-for'
import { pino } from 'pino'
import t from 'tap'
import {
  type AttemptRecord,
  collectionsOf,
  type DeliveryDocument,
  never,
} from '../src/storage/collections.ts'
import { createDeliveryStore, type DeliveryStore } from '../src/storage/delivery-store.ts'
import { indexes } from '../src/storage/indexes.ts'
import { newInterrupted } from '../src/storage/interrupted-delivery.ts'
import { type NewDelivery, newClaimed, newDocument } from '../src/storage/new-delivery.ts'
import { createUnstoredDeliveries } from '../src/actions/unstored-deliveries.ts'

const db = await openTestDatabase(t)
const logger = pino({ level: 'silent' })
await ensureIndexes(db, indexes)
const { deliveries } = collectionsOf(db)
const store = createDeliveryStore({ deliveries })

const now = new Date(5000)
const token = 7
const fresh = (id: string): NewDelivery => ({
  ...{ _id: id, operatorId: 'op', environment: 'SANDBOX', webhookId: 'whe', eventId: `evt_${id}` },
  ...{ eventType: 'round.completed', lane: 'fresh', createdAt: now },
})
const claimed = (id: string) => newClaimed(fresh(id), token, now)
const attempt: AttemptRecord = {
  ...{ attempt: 1, sentAt: now, durationMs: 3, httpStatus: 200, error: null, responseExcerpt: null },
  ...{ timings: null, hint: null, storedAt: now },
}
const delivered = { status: 'DELIVERED', deliveredAt: now, dueAt: never, nextAttemptAt: null } as const

/** @param insertAbsent instead of the store's own */
function open(insertAbsent: DeliveryStore['insertAbsent'] = store.insertAbsent) {
  const announced: DeliveryDocument[] = []
  const unstored = createUnstoredDeliveries({
    stored: { ...store, insertAbsent },
    announce: async (documents) => void announced.push(...documents),
    logger,
  })
  return { unstored, announced, ...unstored.covering }
}

t.beforeEach(() => deliveries.deleteMany({}))

t.test('a delivery whose attempt ends soon is stored once, with the outcome', async (t) => {
  const inserted: DeliveryDocument[] = []
  const { unstored, announced, complete } = open((documents) => {
    inserted.push(...documents)
    return store.insertAbsent(documents)
  })
  const stored = unstored.keep([fresh('a')])
  t.strictSame(unstored.take([claimed('a')]), new Set(['a']))
  t.strictSame(unstored.take([claimed('a')]), new Set(), 'in flight once')
  t.equal(await deliveries.countDocuments({}), 0)
  t.ok(await complete(claimed('a'), delivered, attempt))
  await stored
  t.equal(inserted.length, 1)
  t.strictSame(announced, [])
  t.match(await deliveries.findOne({}), {
    status: 'DELIVERED',
    claimToken: 0,
    attemptCount: 1,
    attempts: [attempt],
  })
})

t.test('what is not sent or not answered in time is stored as it is, and told', async (t) => {
  const { unstored, announced, claim, complete } = open()
  const stored = unstored.keep([fresh('a'), fresh('b')])
  unstored.take([claimed('a')])
  await stored
  t.strictSame(announced.map(({ _id }) => _id).toSorted(), ['a', 'b'])
  t.match(await deliveries.findOne({ _id: 'a' }), { claimToken: token, attemptCount: 1 })
  t.match(await deliveries.findOne({ _id: 'b' }), { claimToken: 0, attemptCount: 0 })
  t.ok(await complete(claimed('a'), delivered, attempt), 'the claim stands in the database')
  t.match(await deliveries.findOne({ _id: 'a' }), { status: 'DELIVERED', attempts: [attempt] })
  t.equal((await claim([newDocument(fresh('b'))], token, now)).length, 1)
})

t.test('one in flight is stored before one that waits', async (t) => {
  const { unstored, announced } = open()
  const stored = unstored.keep([fresh('a'), fresh('b')])
  unstored.take([claimed('b')])
  await waitFor(() => announced.length > 0)
  t.strictSame(
    announced.map(({ _id }) => _id),
    ['b'],
  )
  await stored
})

t.test('one that another process has stored as interrupted is claimed where it is stored', async (t) => {
  const { unstored, claim } = open()
  const stored = unstored.keep([fresh('a')])
  const place = { step: 2, stepDueAt: now }
  const { attempts: _, ...interrupted } = newInterrupted(fresh('a'), now, () => place)
  await store.insertAbsent([{ ...interrupted, attempts: [attempt] }])
  const both = await claim([newDocument(fresh('a')), interrupted], token, now)
  t.strictSame(
    both.map(({ attemptCount }) => attemptCount),
    [2],
  )
  t.match(await deliveries.findOne({ _id: 'a' }), { claimToken: token, attemptCount: 2 })
  await stored
})

t.test('those that wait here are found like stored ones, and claimed without a write', async (t) => {
  const { unstored, claim, existing, statusesOfEvents, upcoming, upcomingIn } = open()
  await store.create([fresh('a')])
  const stored = unstored.keep([fresh('b'), fresh('c')])
  const ids = async () => (await upcoming('whe', 10)).lanes.fresh.map(({ _id }) => _id)
  t.strictSame(await ids(), ['a', 'b', 'c'])
  t.strictSame(
    (await upcomingIn('whe', 'fresh', 2)).waiting.map(({ _id }) => _id),
    ['a', 'b'],
  )
  t.ok((await upcoming('whe', 2)).open.has('fresh'), 'more wait')
  t.strictSame((await upcomingIn('other', 'fresh', 2)).waiting, [])
  t.equal((await existing([fresh('c'), fresh('d')])).get('c')?.status, 'PENDING')
  t.equal((await existing([fresh('d')])).size, 0)
  t.strictSame(
    await statusesOfEvents(['evt_a', 'evt_c']),
    new Map([
      ['a', 'PENDING'],
      ['c', 'PENDING'],
    ]),
  )
  const both = await claim([newDocument(fresh('a')), newDocument(fresh('b'))], token, now)
  t.strictSame(both.map(({ _id }) => _id).toSorted(), ['a', 'b'])
  t.equal(await deliveries.countDocuments({}), 1)
  t.strictSame(await ids(), ['c'])
  await unstored.drain()
  await stored
})

t.test('an insert that fails is made again, and the outcome is not lost', async (t) => {
  let away = true
  const { unstored, complete } = open((documents) =>
    away ? Promise.reject(new Error('the database is away')) : store.insertAbsent(documents),
  )
  const stored = unstored.keep([fresh('a'), fresh('b')])
  unstored.take([claimed('a')])
  await t.rejects(complete(claimed('a'), delivered, attempt), /away/)
  away = false
  t.ok(await complete(claimed('a'), delivered, attempt))
  await stored
  t.strictSame(
    (await deliveries.find({}).sort({ _id: 1 }).toArray()).map(({ status }) => status),
    ['DELIVERED', 'PENDING'],
  )
})

t.test('an insert whose answer was lost counts as made', async (t) => {
  let lost = true
  const { unstored, complete } = open(async (documents) => {
    const made = await store.insertAbsent(documents)
    if (!lost) return made
    lost = false
    throw new Error('the connection is gone')
  })
  const stored = unstored.keep([fresh('a')])
  unstored.take([claimed('a')])
  await t.rejects(complete(claimed('a'), delivered, attempt), /gone/)
  t.ok(await complete(claimed('a'), delivered, attempt))
  await stored
})

t.test('an outcome is refused when somebody else has made up for the delivery', async (t) => {
  const { unstored, complete } = open()
  const stored = unstored.keep([fresh('a')])
  unstored.take([claimed('a')])
  await deliveries.insertOne({ ...newDocument(fresh('a')), attemptCount: 1, lane: 'retry' })
  t.notOk(await complete(claimed('a'), delivered, attempt))
  await stored
  t.match(await deliveries.findOne({}), { status: 'PENDING', lane: 'retry' })
})

t.test('a process that ends while the database is away leaves them to be looked for again', async (t) => {
  const { unstored } = open(() => Promise.reject(new Error('the database is away')))
  const stored = unstored.keep([fresh('a')])
  await unstored.drain()
  await t.rejects(stored, /away/)
  await t.resolves(unstored.whenStored(['a']))
})

t.test('some are stored at once when others have to send them', async (t) => {
  const { unstored, announced } = open()
  const stored = unstored.keep([fresh('a'), fresh('b')])
  await unstored.storeNow(['b'])
  t.strictSame(
    announced.map(({ _id }) => _id),
    ['b'],
  )
  t.strictSame(unstored.take([claimed('b')]), new Set())
  t.strictSame(unstored.take([claimed('a')]), new Set(['a']))
  await stored
})
