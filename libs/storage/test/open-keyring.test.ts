import { ConfigError } from '@pitboss/runtime/load-config'
import t from 'tap'
import { openKeyring } from '../src/open-keyring.ts'
import { createCursorCodec } from '../src/cursor.ts'
import { testStorage } from './fixtures/test-storage.ts'

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const { client, engines } = await testStorage(t)
let databases = 0

function freshDatabase() {
  databases += 1
  const db = client.db(`${engines.databasePrefix}_keys${databases}`)
  t.teardown(() => db.dropDatabase())
  return db
}

await t.test('a database goes on with its own keys, also when some come and some go', async (t) => {
  const db = freshDatabase()
  for (const keys of [
    `a:${key(1)}`,
    `a:${key(1)}`,
    `b:${key(2)},a:${key(1)}`,
    `b:${key(2)}`,
    `c:${key(3)},b:${key(2)}`,
  ]) {
    t.equal((await openKeyring(db, keys)).currentKid, keys[0])
  }
})

await t.test('keys of another installation are refused: variable, database and remedy', async (t) => {
  const db = freshDatabase()
  await openKeyring(db, `b:${key(2)},a:${key(1)}`)
  for (const keys of [
    `a:${key(9)}`,
    `b:${key(2)},a:${key(9)}`,
    `new:${key(8)},a:${key(9)}`,
    `stranger:${key(1)}`,
  ]) {
    const error = await openKeyring(db, keys).catch((thrown: unknown) => thrown)
    t.ok(error instanceof ConfigError, keys.slice(0, 8))
    t.match(String(error), /PITBOSS_MASTER_KEYS/)
    t.match(String(error), db.databaseName)
    t.match(String(error), /PITBOSS_DATABASE_PREFIX/)
    for (const byte of [1, 2, 8, 9]) t.notMatch(String(error), key(byte))
  }
  t.equal((await openKeyring(db, `a:${key(1)}`)).currentKid, 'a', 'what was refused left no trace')
})

await t.test('of replicas that start at once with different keys those of one set run', async (t) => {
  const db = freshDatabase()
  const sets = Array.from({ length: 12 }, (_, index) => `k:${key(1 + (index % 3))}`)
  const opened = await Promise.allSettled(sets.map((keys) => openKeyring(db, keys)))
  const winners = new Set(sets.filter((_, index) => opened[index]?.status === 'fulfilled'))
  t.equal(winners.size, 1)
  t.equal(opened.filter(({ status }) => status === 'fulfilled').length, 4)
})

await t.test('a text that is no keyring is a bad configuration', async (t) => {
  await t.rejects(openKeyring(freshDatabase(), `a:${key(1)},a:${key(2)}`), ConfigError)
})

await t.test('cursors outlive a master key that was dropped, sealed secrets do not', async (t) => {
  const db = freshDatabase()
  const purposes = ['cursor', 'keyed-hash/token']
  const open = (keys: string) => openKeyring(db, keys, purposes)
  const old = await open(`a:${key(1)}`)
  const cursor = createCursorCodec({ keyring: old }).encode('a list', 7)

  await open(`a:${key(1)},b:${key(2)}`)
  await open(`b:${key(2)},a:${key(1)}`)
  for (const keys of [`b:${key(2)}`, `c:${key(3)},b:${key(2)}`, `c:${key(3)}`]) {
    const left = await open(keys)
    t.notOk(left.kids.includes('a'))
    t.equal(createCursorCodec({ keyring: left }).decode('a list', cursor), 7)
    t.notOk(left.kidsOf('keyed-hash/other').includes('a'), 'another purpose is not kept')
    t.throws(() => left.derive('secret-box', 'a'), RangeError)
  }
  const stored = JSON.stringify(await db.collection('master_keys').find({}).toArray())
  for (const purpose of purposes) t.notMatch(stored, old.derive(purpose, 'a').toString('base64'))
})

await t.test('a key that was dropped before anything was kept is no reason to stop', async (t) => {
  const db = freshDatabase()
  await openKeyring(db, `b:${key(2)},a:${key(1)}`)
  await db.collection<{ _id: string }>('master_keys').updateOne({ _id: 'a' }, { $unset: { kept: 1 } })
  t.strictSame((await openKeyring(db, `b:${key(2)}`)).kidsOf('cursor'), ['b'])
})
