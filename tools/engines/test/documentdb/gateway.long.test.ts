import { once } from 'node:events'
import { connect } from 'node:net'
import { deserialize, serialize } from 'bson'
import { type Document, Long, MongoClient, UUID } from 'mongodb'
import t from 'tap'
import { opMsg, opQuery, section, untilClosed } from './fixtures/messages.ts'
import { startEngine } from './fixtures/start-engine.ts'
import { wireClient } from './fixtures/wire-client.ts'
import { withContext } from './fixtures/with-context.ts'

const { url } = await startEngine(t)
const port = Number(new URL(url).port)
const client = await new MongoClient(url).connect()
t.teardown(() => client.close())
const admin = client.db('admin')

await t.test('a replica set URL, a plain one and a direct connection all work', async (t) => {
  const plain = `mongodb://127.0.0.1:${port}/`
  for (const each of [
    url,
    plain,
    `${plain}?directConnection=true`,
    `mongodb://localhost:${port}/?replicaSet=rs0`,
  ]) {
    const other = await new MongoClient(each, { serverSelectionTimeoutMS: 3_000 }).connect()
    t.equal((await other.db('admin').command({ ping: 1 })).ok, 1, each)
    await other.close()
  }
})

await t.test('the handshake in its old form is answered in its old form', async (t) => {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(opQuery(serialize({ ismaster: 1, helloOk: true }), 77))
  const [answer] = await once(socket, 'data')
  t.equal(answer.readInt32LE(8), 77)
  t.equal(answer.readInt32LE(12), 1)
  t.match(deserialize(answer.subarray(36)), { ismaster: true, setName: 'rs0', maxWireVersion: 21, ok: 1 })
})

await t.test('a broken message ends its own connection and nothing else', async (t) => {
  const socket = connect(port, '127.0.0.1')
  socket.write(opMsg([section(9, Buffer.alloc(8))]))
  await untilClosed(socket)
  t.equal((await admin.command({ ping: 1 })).ok, 1)
})

await t.test('what an operations person types is answered', async (t) => {
  await withContext(url, async ({ db }) => {
    await db.collection('a').insertOne({ v: 1 })
    const asked: Document[] = [
      { hello: 1 },
      { isMaster: 1 },
      { ping: 1 },
      { buildInfo: 1 },
      { serverStatus: 1 },
      { hostInfo: 1 },
      { connectionStatus: 1, showPrivileges: true },
      { whatsmyuri: 1 },
      { getLog: 'startupWarnings' },
      { getCmdLineOpts: 1 },
      { getParameter: 1, featureCompatibilityVersion: 1 },
      { getDefaultRWConcern: 1 },
      { replSetGetStatus: 1 },
      { currentOp: 1 },
      { aggregate: 1, pipeline: [{ $currentOp: {} }], cursor: {} },
      { listDatabases: 1, nameOnly: true },
      { listCommands: 1 },
    ]
    for (const command of asked) t.equal((await admin.command(command)).ok, 1, Object.keys(command).join())
    const inDatabase: Document[] = [
      { listCollections: 1, nameOnly: true },
      { collStats: 'a', scale: 1024 },
      { dbStats: 1 },
      { validate: 'a' },
      { count: 'a' },
      { distinct: 'a', key: 'v' },
      { listIndexes: 'a' },
      { aggregate: 'a', pipeline: [{ $collStats: { storageStats: {} } }], cursor: {} },
      { aggregate: 'a', pipeline: [{ $indexStats: {} }], cursor: {} },
      { aggregate: 'a', pipeline: [], explain: true },
      { explain: { count: 'a', query: { v: 1 } }, verbosity: 'executionStats' },
      { collMod: 'a', validator: {} },
      { drop: 'never_there' },
    ]
    for (const command of inDatabase) t.equal((await db.command(command)).ok, 1, Object.keys(command).join())
    await t.rejects(db.command({ noSuchCommand: 1 }), { code: 59, codeName: 'CommandNotFound' })
  })
})

await t.test('explain shows which index is used', async (t) => {
  await withContext(url, async ({ collection }) => {
    const c = collection()
    await c.createIndex({ k: 1 })
    await c.insertMany(Array.from({ length: 100 }, (_, k) => ({ _id: k, k })))
    const plan = await c.find({ k: 7 }).hint('k_1').explain('executionStats')
    t.match(JSON.stringify(plan.queryPlanner.winningPlan), /"stage":"IXSCAN","indexName":"k_1"/)
    t.equal(plan.executionStats.nReturned, 1)
  })
})

await t.test('maxTimeMS ends a statement with 50 and leaves the connection usable', async (t) => {
  await withContext(url, async ({ collection, client }) => {
    const c = collection()
    await c.insertOne({ _id: 1 })
    await client.withSession(async (session) => {
      session.startTransaction()
      await c.updateOne({ _id: 1 }, { $set: { held: true } }, { session })
      await t.rejects(c.updateOne({ _id: 1 }, { $set: { waits: true } }, { maxTimeMS: 100 }), { code: 50 })
      await session.commitTransaction()
    })
    await c.updateOne({ _id: 1 }, { $set: { after: true } })
    t.same(await c.findOne({ _id: 1 }), { _id: 1, held: true, after: true })
  })
})

await t.test('a list with maxTimeMS goes on beyond its first page', async (t) => {
  await withContext(url, async ({ collection }) => {
    const c = collection()
    await c.insertMany(Array.from({ length: 250 }, (_, _id) => ({ _id })))
    const found = await c.find({}, { maxTimeMS: 5000 }).sort({ _id: -1 }).toArray()
    t.equal(found.length, 250)
    const streamed = await c.find({}, { maxTimeMS: 5000, batchSize: 20 }).toArray()
    t.equal(streamed.length, 250)
    const added = await c
      .aggregate([{ $match: {} }], { maxTimeMS: 5000, cursor: { batchSize: 20 } })
      .toArray()
    t.equal(added.length, 250)
  })
})

await t.test('a repeated write takes effect once, batches too, and answers the same', async (t) => {
  await withContext(url, async ({ db }) => {
    const { databaseName: $db } = db
    await db.collection<Document & { _id: number }>('r').insertMany([1, 2].map((_id) => ({ _id, n: 0 })))
    const clients = await Promise.all([wireClient(t, port), wireClient(t, port)])
    const lsid = { id: new UUID() }
    const increment = (_id: number) => ({ q: { _id }, u: { $inc: { n: 1 } } })
    const writes: Document[] = [
      { insert: 'r', documents: [{ _id: 5 }, { _id: 6 }] },
      { insert: 'r', documents: [{ _id: 7 }] },
      { insert: 'r', documents: [{ _id: 8 }, { _id: 8 }], ordered: false },
      { update: 'r', updates: [increment(1), increment(2)] },
      { update: 'r', updates: [increment(1)] },
      { findAndModify: 'r', query: { _id: 1 }, update: { $inc: { n: 1 } }, new: true },
      { delete: 'r', deletes: [{ q: { _id: 5 }, limit: 1 }] },
    ]
    for (const [number, write] of writes.entries()) {
      const repeated = { ...write, $db, lsid, txnNumber: Long.fromNumber(number + 1) }
      const [first, twin] = await Promise.all(clients.map((each) => each.command(repeated)))
      const later = await clients[0]?.command(repeated)
      t.match(first, { ok: 1 })
      t.same(twin, first, `write ${number} at the same time`)
      t.same(later, first, `write ${number} later`)
    }
    const found = await db.collection('r').find().sort({ _id: 1 }).toArray()
    t.same(found, [{ _id: 1, n: 3 }, { _id: 2, n: 1 }, { _id: 6 }, { _id: 7 }, { _id: 8 }])
    const older = await clients[0]?.command({ ...writes[0], $db, lsid, txnNumber: Long.fromNumber(1) })
    t.match(older, { ok: 0, code: 225 }, 'a number the session has passed')
  })
})

await t.test('a commit asked for twice is one commit', async (t) => {
  await withContext(url, async ({ db }) => {
    await db.collection('c').insertOne({ n: 0 })
    const { command } = await wireClient(t, port)
    const transaction = { lsid: { id: new UUID() }, txnNumber: Long.fromNumber(1), autocommit: false }
    const insert = { insert: 'c', documents: [{ n: 1 }], $db: db.databaseName }
    t.match(await command({ ...insert, ...transaction, startTransaction: true }), { n: 1, ok: 1 })
    const commit = { commitTransaction: 1, $db: 'admin', ...transaction }
    for (let time = 0; time < 2; time++) t.same(await command(commit), { ok: 1 })
    t.match(await command({ abortTransaction: 1, $db: 'admin', ...transaction }), { ok: 0, code: 256 })
    const unknown = await command({ ...commit, txnNumber: Long.fromNumber(9) })
    t.match(unknown, { ok: 0, code: 251, errorLabels: ['TransientTransactionError'] })
    t.equal(await db.collection('c').countDocuments(), 2)
  })
})

await t.test('a failed statement ends its transaction as in MongoDB', async (t) => {
  await withContext(url, async ({ client, collection }) => {
    const c = collection()
    await c.insertOne({ _id: 1 })
    await client.withSession(async (session) => {
      session.startTransaction()
      await c.insertOne({ _id: 2 }, { session })
      await t.rejects(c.insertOne({ _id: 1 }, { session }), { code: 11000, keyPattern: { _id: 1 } })
      await t.rejects(c.insertOne({ _id: 3 }, { session }), { code: 251 })
    })
    t.same(await c.find().toArray(), [{ _id: 1 }])
  })
})

await t.test('E11000 of an update names the fields that it left alone', async (t) => {
  await withContext(url, async ({ collection }) => {
    const c = collection()
    await c.createIndex({ owner: 1, 'place.row': 1 }, { unique: true, name: 'seat' })
    await c.insertMany([1, 2].map((row) => ({ _id: row, owner: 'a"b', place: { row } })))
    await t.rejects(c.updateOne({ _id: 2 }, { $set: { 'place.row': 1 } }), {
      keyPattern: { owner: 1, 'place.row': 1 },
      keyValue: { owner: 'a"b', 'place.row': 1 },
      message: /index: seat dup key: \{ owner: "a\\"b", place\.row: 1 \}$/,
    })
  })
})

await t.test('documents of 15 MB go in and out; longer ones than 16 MB are refused', async (t) => {
  await withContext(url, async ({ collection }) => {
    const c = collection()
    const text = 'x'.repeat(15_000_000)
    await c.insertOne({ _id: 1, text })
    t.equal((await c.findOne({ _id: 1 }))?.text.length, text.length)
    await t.rejects(c.insertOne({ _id: 2, text: 'x'.repeat(17_000_000) }))
    t.equal(await c.countDocuments(), 1)
  })
})

await t.test('two hundred connections work at once, transactions among them', async (t) => {
  await withContext(url, async ({ db, connect }) => {
    const c = db.collection<{ _id: number; n: number }>('many')
    await c.insertOne({ _id: -1, n: 0 })
    const clients = await Promise.all(Array.from({ length: 200 }, () => connect({ maxPoolSize: 1 })))
    const status = await admin.command({ serverStatus: 1 })
    t.ok(status.connections.current >= 200, `${status.connections.current} connections`)
    const work = async (each: MongoClient, caller: number) => {
      const own = each.db(db.databaseName).collection<{ _id: number; n: number }>('many')
      await own.insertOne({ _id: caller, n: caller })
      await own.updateOne({ _id: -1 }, { $inc: { n: 1 } })
      await each.withSession((session) =>
        session.withTransaction(() => own.updateOne({ _id: caller }, { $inc: { n: 1 } }, { session })),
      )
      return (await own.findOne({ _id: caller }))?.n
    }
    t.same(
      await Promise.all(clients.map(work)),
      clients.map((_, caller) => caller + 1),
    )
    t.equal((await c.findOne({ _id: -1 }))?.n, 200)
  })
})
