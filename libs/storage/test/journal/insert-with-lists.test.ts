import { type Collection, type Document as Command, MongoServerError } from 'mongodb'
import t from 'tap'
import { createInsertWithLists } from '../../src/journal/insert-with-lists.ts'
import { testStorage } from '../fixtures/test-storage.ts'

type Document = { readonly _id: string; readonly by?: string }

await t.test('list documents behind the entries of one command, on a real engine', async (t) => {
  const { db } = await testStorage(t)
  const entries = db.collection<Document>('journal')
  const lists = db.collection<Document>('lists')
  const insert = createInsertWithLists(entries)
  const seen: string[] = []
  const listed = (...ids: string[]) =>
    ids.map((_id) => ({ collection: 'lists', document: { _id }, inserted: () => void seen.push(_id) }))
  const named = (...ids: string[]) => ids.map((_id) => ({ _id }))
  const idsIn = async (collection: typeof lists) =>
    (await collection.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id)
  t.beforeEach(async () => {
    await entries.deleteMany({})
    await lists.deleteMany({})
    seen.length = 0
  })

  await t.test('all are inserted by one command, if the database serves it', async (t) => {
    t.strictSame(await insert(named('a', 'b'), listed('a', 'b')), ['inserted', 'inserted'])
    t.strictSame(await idsIn(entries), ['a', 'b'])
    t.strictSame(await idsIn(lists), seen)
  })

  await t.test('an entry that is another’s has no list document, nor has what comes after it', async (t) => {
    await entries.insertOne({ _id: 'b', by: 'another' })
    t.strictSame(await insert(named('a', 'b', 'c'), listed('b', 'c')), ['inserted', 'present', 'inserted'])
    t.strictSame(await idsIn(entries), ['a', 'b', 'c'])
    t.strictSame([await idsIn(lists), seen], [[], []])
  })

  await t.test('a list document that is there already stays, and the entries stand', async (t) => {
    await lists.insertOne({ _id: 'b', by: 'another' })
    t.strictSame(await insert(named('a', 'b', 'c'), listed('a', 'b', 'c')), Array(3).fill('inserted'))
    t.strictSame(await lists.findOne({ _id: 'b' }), { _id: 'b', by: 'another' })
    t.strictSame(await idsIn(entries), ['a', 'b', 'c'])
    t.notOk(seen.includes('b'))
  })

  for (const [name, hello, asked] of [
    ['MongoDB before 8.0', {}, ['hello', 'bulkWrite']],
    ['a sharded cluster', { msg: 'isdbgrid' }, ['hello']],
  ] as const) {
    await t.test(`${name} is asked once, and takes the entries alone`, async (t) => {
      const commands: (string | undefined)[] = []
      const admin = () => ({
        async command(command: Command) {
          commands.push(Object.keys(command)[0])
          if ('hello' in command) return hello
          throw new MongoServerError({ code: 59, message: 'no such command: bulkWrite' })
        },
      })
      const { collectionName, writeConcern } = entries
      const older = { databaseName: db.databaseName, command: db.command.bind(db), admin }
      const insertThere = createInsertWithLists<Document>({
        ...{ collectionName, writeConcern, db: older },
      } as unknown as Collection<Document>)
      t.strictSame(await insertThere(named('a'), listed('a')), ['inserted'])
      t.strictSame(await insertThere(named('a', 'b'), listed('b')), ['present', 'inserted'])
      t.strictSame([await idsIn(entries), await idsIn(lists), seen], [['a', 'b'], [], []])
      t.strictSame(commands, asked)
    })
  }
})
