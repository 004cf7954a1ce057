import { refuseUnkeyed } from '@pitboss/testing/refuse-unkeyed'
import { withEngines } from '@pitboss/testing/with-engines'
import { MongoClient } from 'mongodb'
import t from 'tap'

type Note = { _id: string; account: string; shelf: string; text?: string }

const engines = await withEngines(t, { fresh: true })
const client = await new MongoClient(engines.mongodbUrl).connect()
const plain = client.db(`${engines.databasePrefix}_unkeyed`)
t.teardown(async () => {
  await plain.dropDatabase()
  await client.close()
})
const db = refuseUnkeyed(plain, {
  notes: { key: ['account', 'shelf'], mayReadAll: (fields) => String(fields) === '_id' },
})
const notes = db.collection<Note>('notes')
const named = { _id: 'n1', account: 'a', shelf: 's' }
const refused = { message: /^notes\.\w+: no shard key in / }

t.test('a write that names the whole key goes through', async (t) => {
  await notes.insertOne(named)
  await notes.updateOne(named, { $set: { text: 'one' } })
  await notes.updateMany(
    { _id: { $in: ['n1'] }, account: { $in: ['a'] }, shelf: 's' },
    { $set: { text: 'two' } },
  )
  await notes.bulkWrite([{ updateOne: { filter: named, update: { $set: { text: 'three' } } } }])
  t.match(await notes.findOneAndUpdate(named, { $set: { text: 'four' } }), { text: 'three' })
  t.equal((await notes.deleteOne(named)).deletedCount, 1)
})

t.test('a write that names a part of the key, or a range of it, is refused', async (t) => {
  const half = { _id: 'n1', account: 'a' }
  const ranged = { ...half, shelf: { $gt: '' } }
  const set = { $set: { text: 'late' } }
  for (const filter of [{ _id: 'n1' }, half, ranged]) {
    t.throws(() => notes.updateOne(filter, set), refused)
    t.throws(() => notes.updateMany(filter, set), refused)
    t.throws(() => notes.findOneAndUpdate(filter, set), refused)
    t.throws(() => notes.deleteOne(filter), refused)
    t.throws(() => notes.deleteMany(filter), refused)
    const good = { updateOne: { filter: named, update: set } }
    t.throws(() => notes.bulkWrite([good, { updateOne: { filter, update: set } }]), refused)
    t.throws(() => notes.bulkWrite([good, { deleteOne: { filter } }]), refused)
  }
  t.end()
})

t.test('a read without the key is refused unless it may ask every shard', async (t) => {
  t.throws(() => notes.find({ text: 'one' }), refused)
  t.equal(await notes.findOne({ _id: 'n1' }), null)
  t.equal(await db.collection('others').findOne({ text: 'one' }), null, 'another collection has no key')
})
