import { connectStorage } from '@pitboss/storage/connect-storage'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import { MongoClient, MongoNetworkError, MongoServerError } from 'mongodb'
import { pino } from 'pino'
import t from 'tap'
import { type Meeting, meetings, startElectionProxy } from '../src/network/start-election-proxy.ts'

const engines = await withEngines(t, { fresh: true })
const { hostname: host, port, searchParams } = new URL(engines.mongodbUrl)
searchParams.set('retryWrites', 'true')

async function world(t: { teardown(fn: () => Promise<void>): void }) {
  const proxy = await startElectionProxy({ host, port: Number(port) })
  t.teardown(() => proxy.close())
  const url = `mongodb://127.0.0.1:${proxy.port}/?${searchParams.toString()}`
  return { proxy, url, database: `${engines.databasePrefix}_election` }
}

await t.test('the driver knows no other way than the proxy, and what it does arrives', async (t) => {
  const { proxy, url, database } = await world(t)
  const storage = await connectStorage({ url, database, logger: pino({ level: 'silent' }) })
  t.teardown(() => storage.close())
  await storage.db.collection<{ _id: string }>('plain').insertOne({ _id: 'one' })
  t.equal(await storage.db.collection('plain').countDocuments(), 1)
  const { hosts } = await storage.db.admin().command({ hello: 1 })
  t.strictSame(hosts, [`127.0.0.1:${proxy.port}`])
})

/** What is late is an insert. */
const ofWrites = meetings.filter((how) => how !== 'late')
for (const how of ofWrites) {
  await t.test(`a write that meets an election (${how}) is done once by the driver's retry`, async (t) => {
    const { proxy, url, database } = await world(t)
    const storage = await connectStorage({ url, database, logger: pino({ level: 'silent' }) })
    t.teardown(() => storage.close())
    const rows = storage.db.collection<{ _id: string; count: number }>(how)
    await rows.insertOne({ _id: 'one', count: 0 })
    proxy.meet(how, 1)
    const changed = await rows.findOneAndUpdate(
      { _id: 'one' },
      { $inc: { count: 1 } },
      { returnDocument: 'after' },
    )
    t.equal(proxy.met()[how], 1, 'the write met it')
    t.strictSame(changed, { _id: 'one', count: 1 }, 'the answer is that of the one write')
    t.strictSame(await rows.findOne({ _id: 'one' }), { _id: 'one', count: 1 })
  })
}

const plain: Record<Exclude<Meeting, 'unacknowledged' | 'late'>, { code: number | null; count: number }> = {
  refused: { code: 10107, count: 0 },
  interrupted: { code: 11602, count: 1 },
  'cut-before': { code: null, count: 0 },
  'cut-after': { code: null, count: 1 },
}
for (const [how, { code, count }] of Object.entries(plain)) {
  await t.test(`without retries the driver tells of the election (${how})`, async (t) => {
    const { proxy, url, database } = await world(t)
    const client = new MongoClient(url, { retryWrites: false })
    t.teardown(() => client.close())
    const rows = client.db(database).collection<{ _id: string; count: number }>(`bare-${how}`)
    await rows.insertOne({ _id: 'one', count: 0 })
    proxy.meet(meetings.find((one) => one === how) ?? 'refused', 1)
    const error = await rows.updateOne({ _id: 'one' }, { $inc: { count: 1 } }).then(
      () => null,
      (reason: unknown) => reason,
    )
    if (code === null) t.ok(error instanceof MongoNetworkError)
    else t.equal(error instanceof MongoServerError && error.code, code)
    const row = await client.db(database).collection<{ _id: string }>(`bare-${how}`).findOne({ _id: 'one' })
    t.strictSame(row, { _id: 'one', count }, 'the write had its effect or none')
  })
}

await t.test('a late insert lands after its sender has given it up, and others come first', async (t) => {
  const { proxy, url, database } = await world(t)
  const sender = new MongoClient(url, { retryWrites: false })
  t.teardown(() => sender.close())
  const late = sender.db(database).collection<{ _id: string; by: string }>('late')
  await late.insertOne({ _id: 'first', by: 'sender' })
  proxy.meet('late', 1, 300)
  const both = ['one', 'two'].map((_id) => ({ _id, by: 'sender' }))
  await t.rejects(late.insertMany(both, { ordered: false }), { name: 'MongoBulkWriteError' })
  await sender.close()
  const other = new MongoClient(engines.mongodbUrl)
  t.teardown(() => other.close())
  const rows = other.db(database).collection<{ _id: string; by: string }>('late')
  await rows.insertOne({ _id: 'one', by: 'other' })
  await waitFor(async () => (await rows.countDocuments()) === 3, { what: 'the rest of the late insert' })
  t.strictSame(await rows.find().sort({ _id: 1 }).toArray(), [
    { _id: 'first', by: 'sender' },
    { _id: 'one', by: 'other' },
    { _id: 'two', by: 'sender' },
  ])
})

await t.test('without a primary writes wait, and are done when there is one again', async (t) => {
  const { proxy, url, database } = await world(t)
  const client = new MongoClient(url, { heartbeatFrequencyMS: 500 })
  t.teardown(() => client.close())
  const rows = client.db(database).collection<{ _id: string }>('away')
  await rows.insertOne({ _id: 'one' })
  const gone = Promise.withResolvers<void>()
  client.on('serverDescriptionChanged', ({ newDescription }) => {
    if (newDescription.type === 'RSSecondary' || newDescription.type === 'RSOther') gone.resolve()
  })
  proxy.setPrimary(false)
  const second = rows.insertOne({ _id: 'two' })
  await gone.promise
  proxy.setPrimary(true)
  await second
  t.ok(proxy.met().refused > 0, 'it was refused first')
  t.equal(await rows.countDocuments(), 2)
})
