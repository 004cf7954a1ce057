import { MongoClient } from 'mongodb'
import t from 'tap'
import { createLogins } from '../../src/documentdb/gateway/state/login.ts'
import { startEngine } from './fixtures/start-engine.ts'

await t.test('an engine with a login serves those who have it, and tells others nothing', async (t) => {
  const { url } = await startEngine(t, { withLogin: true })
  const connect = async (changed: string) => {
    const client = new MongoClient(changed, { serverSelectionTimeoutMS: 5000 })
    t.teardown(() => client.close())
    return client
  }
  const known = await connect(url)
  const rows = known.db('test').collection<{ _id: number }>('rows')
  await rows.insertOne({ _id: 1 })
  await known.withSession((session) =>
    session.withTransaction(async () => rows.insertOne({ _id: 2 }, { session })),
  )
  t.equal(await rows.countDocuments(), 2)

  const anonymous = await connect(url.replace(/\/\/.*@/, '//'))
  for (const command of [{ ping: 1 }, { listDatabases: 1 }, { buildInfo: 1 }, { find: 'rows' }]) {
    await t.rejects(anonymous.db('admin').command(command), { code: 13 }, JSON.stringify(command))
  }
  for (const login of ['pitboss:guessed', 'somebody:else']) {
    const stranger = await connect(url.replace(/\/\/.*@/, `//${login}@`))
    await t.rejects(stranger.db('test').command({ ping: 1 }), { code: 18 }, login)
  }
  t.equal(await rows.countDocuments(), 2)
})

t.test('a login is of one conversation, and cannot be played again', (t) => {
  const newLogin = createLogins({ user: 'ada', password: 'secret' })
  const first = newLogin()
  t.equal(first.finish('c=biws,r=abc,p=AAAA'), null, 'nothing was begun')
  t.equal(first.start('n,,n=bob,r=abcdefgh1234'), null)
  t.equal(first.start('y,,n=ada,r=abcdefgh1234'), null)
  const reply = first.start('n,,n=ada,r=abcdefgh1234') ?? ''
  t.match(reply, /^r=abcdefgh1234.{24},s=.+,i=4096$/)
  const nonce = /^r=([^,]+)/.exec(reply)?.[1] ?? ''
  t.equal(first.finish(`c=biws,r=${nonce},p=${Buffer.alloc(32).toString('base64')}`), null)
  t.equal(first.finish(`c=biws,r=${nonce},p=${Buffer.alloc(32).toString('base64')}`), null, 'it is over')
  t.notOk(first.isDone())
  t.not(newLogin().start('n,,n=ada,r=abcdefgh1234'), reply, 'each has a nonce of its own')
  t.end()
})
