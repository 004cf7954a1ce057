import { isOnlyDuplicates } from '@pitboss/storage/create-once'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { withEngines } from '@pitboss/testing/with-engines'
import { MongoBulkWriteError } from 'mongodb'
import { pino } from 'pino'
import t from 'tap'
import { collectionsOf } from '../../src/storage/collections.ts'
import { createDeliveryQueue } from '../../src/storage/delivery-queue.ts'
import type { NewDelivery } from '../../src/storage/new-delivery.ts'
import { indexes } from '../../src/storage/indexes.ts'

const { mongodbUrl, databasePrefix } = await withEngines(t)
const storage = await connectStorage({
  url: mongodbUrl,
  database: `${databasePrefix}_queue`,
  logger: pino({ level: 'silent' }),
})
t.teardown(async () => {
  await storage.db.dropDatabase()
  await storage.close()
})
await ensureIndexes(storage.db, indexes)
const collections = collectionsOf(storage.db)
const { create } = createDeliveryQueue(collections)

const delivery = (_id: string): NewDelivery => ({
  _id,
  operatorId: 'op',
  environment: 'SANDBOX',
  webhookId: 'whe',
  eventId: 'evt',
  eventType: 'round.completed',
  lane: 'fresh',
  createdAt: new Date(1000),
})

t.test('deliveries that exist stay as they are, and all others are made', async (t) => {
  t.equal(await create([delivery('a'), delivery('b')]), 2)
  await collections.deliveries.updateOne({ _id: 'a' }, { $set: { status: 'DELIVERED', attemptCount: 3 } })
  t.equal(await create([delivery('a'), delivery('c'), delivery('b'), delivery('d')]), 2)
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
  t.equal(await create([]), 0)
})

t.test('of makers at once each delivery has one', async (t) => {
  const ids = Array.from({ length: 40 }, (_, index) => `at-once-${index}`)
  const made = await Promise.all(Array.from({ length: 6 }, () => create(ids.map(delivery))))
  t.equal(
    made.reduce((sum, count) => sum + count, 0),
    ids.length,
  )
})

t.test('another failure than a duplicate is not passed over', async (t) => {
  const things = storage.db.collection<{ _id: string; value: string }>('things')
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
