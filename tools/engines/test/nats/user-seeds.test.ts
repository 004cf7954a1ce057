import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withUserSeeds } from '../../src/nats/nats-configuration.ts'

const accounts = [{ name: 'A', users: [{ name: 'auth' }, { name: 'test', password: 't' }] }]

await t.test(
  'keys are made once per data folder, for those who have none, and only the owner reads them',
  async (t) => {
    const folder = t.testdir({})
    const first = withUserSeeds(folder, accounts)
    t.match(first.seeds.auth, /^SU[A-Z0-9]{56}$/)
    t.strictSame(Object.keys(first.seeds), ['auth'])
    t.match(first.accounts[0]?.users[0]?.publicKey, /^U[A-Z0-9]{55}$/)
    t.strictSame(first.accounts[0]?.users[1], { name: 'test', password: 't' })
    t.equal(statSync(join(folder, 'nkeys.json')).mode & 0o777, 0o600)
    t.strictSame(withUserSeeds(folder, accounts), first)
    const more = withUserSeeds(folder, [{ name: 'A', users: [{ name: 'auth' }, { name: 'rounds' }] }])
    t.equal(more.seeds.auth, first.seeds.auth)
    t.strictSame(Object.keys(JSON.parse(readFileSync(join(folder, 'nkeys.json'), 'utf8'))), [
      'auth',
      'rounds',
    ])
    t.not(withUserSeeds(t.testdir({ other: {} }), accounts).seeds.auth, first.seeds.auth)
  },
)

await t.test('a key file that is not one is named, and not written over', async (t) => {
  const folder = t.testdir({})
  writeFileSync(join(folder, 'nkeys.json'), '{"auth":')
  t.throws(() => withUserSeeds(folder, accounts), {
    name: 'EngineError',
    message: /nkeys.json cannot be read/,
  })
})
