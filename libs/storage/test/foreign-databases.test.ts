import { ConfigError } from '@pitboss/runtime/load-config'
import { type Db, type Document, MongoServerError } from 'mongodb'
import pino from 'pino'
import t from 'tap'
import { connectServiceStorage } from '../src/connect-storage.ts'
import { assertOwnDatabaseAlone } from '../src/foreign-databases.ts'
import { testStorage } from './fixtures/test-storage.ts'

const service = 'wallet-bridge'

/** A server whose login may read `readable` and sees the names of `listed`; null refuses the list, too. */
function loginThat(may: { readable: string[]; listed: string[] | null; code?: number }) {
  const refuse = () => {
    throw new MongoServerError({ message: 'not authorized', code: may.code ?? 13 })
  }
  const command = (database: string, asked: Document): Document => {
    if (asked.listDatabases === 1)
      return may.listed === null ? refuse() : { databases: may.listed.map((name) => ({ name })) }
    return may.readable.includes(database) ? { cursor: {} } : refuse()
  }
  const db = (name?: string): Db => {
    const partial: Pick<Db, 'command'> = { command: async (asked) => command(name ?? '', asked) }
    return partial as Db
  }
  return { db }
}

const problemOf = (may: Parameters<typeof loginThat>[0]) =>
  assertOwnDatabaseAlone(loginThat(may), { prefix: 'casino', service }).then(
    () => null,
    (error: unknown) => error,
  )

t.test('a login for the own database alone is taken', async (t) => {
  const own = ['casino_wallet_bridge']
  t.equal(await problemOf({ readable: own, listed: own }), null)
  t.equal(await problemOf({ readable: own, listed: null }), null)
  t.equal(await problemOf({ readable: [...own, 'reports'], listed: [...own, 'other_auth'] }), null)
})

t.test('one that reads or lists what is of another service is refused by name', async (t) => {
  for (const may of [
    { readable: ['casino_auth'], listed: null },
    { readable: [], listed: ['casino_auth'] },
  ]) {
    const error = await problemOf(may)
    t.ok(error instanceof ConfigError)
    t.match(String(error), /MONGODB_URL.*casino_auth.*wallet-bridge.*casino_wallet_bridge/)
    t.notMatch(String(error), 'casino_rounds')
  }
})

t.test('a server that fails otherwise is no answer', async (t) => {
  t.match(await problemOf({ readable: [], listed: null, code: 11_600 }), { code: 11_600 })
})

t.test('production asks a server elsewhere; loopback and development are taken', async (t) => {
  const { engines, client } = await testStorage(t)
  await t.rejects(assertOwnDatabaseAlone(client, { prefix: engines.databasePrefix, service }), ConfigError)
  for (const NODE_ENV of ['production', 'development'] as const) {
    const config = {
      ...{ MONGODB_URL: engines.mongodbUrl, PITBOSS_DATABASE_PREFIX: engines.databasePrefix, NODE_ENV },
    }
    const host = { logger: pino({ level: 'silent' }), check: () => undefined }
    await (await connectServiceStorage({ service, config, host })).close()
    t.pass(NODE_ENV)
  }
})
