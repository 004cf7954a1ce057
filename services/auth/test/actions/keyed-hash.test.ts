import { parseKeyring } from '@pitboss/storage/keyring'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { createKeyedHash } from '../../src/actions/keyed-hash.ts'

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')

await t.test('a keyed hash verifies its text alone and outlives a rotation', async (t) => {
  const old = createKeyedHash(parseKeyring(`old:${key(2)}`), 'api-secret')
  const rotated = createKeyedHash(parseKeyring(`new:${key(1)},old:${key(2)}`), 'api-secret')
  const hashed = old.hash('cs_test_1')
  t.equal(hashed, old.hash('cs_test_1'))
  t.ok(rotated.verify('cs_test_1', hashed))
  t.notOk(rotated.verify('cs_test_2', hashed))
  t.ok(rotated.candidates('cs_test_1').includes(hashed))
  t.match(rotated.hash('cs_test_1'), /^v1\.new\.[A-Za-z0-9_-]{43}$/)
  t.notOk(createKeyedHash(parseKeyring(`new:${key(3)}`), 'api-secret').verify('cs_test_1', hashed))
  t.notOk(createKeyedHash(parseKeyring(`old:${key(2)}`), 'invitation').verify('cs_test_1', hashed))
  for (const junk of ['', 'v1', 'v1.old', 'v1.old.', `${hashed}x`]) t.notOk(rotated.verify('cs_test_1', junk))
})

await t.test('hashes outlive a master key that was dropped', async (t) => {
  const db = await openTestDatabase(t)
  const open = (keys: string) => openKeyring(db, keys, ['cursor', 'keyed-hash/token'])
  const hashed = createKeyedHash(await open(`a:${key(1)}`), 'token').hash('a secret')
  await open(`a:${key(1)},b:${key(2)}`)
  await open(`b:${key(2)},a:${key(1)}`)
  for (const keys of [`b:${key(2)}`, `c:${key(3)},b:${key(2)}`, `c:${key(3)}`]) {
    const left = await open(keys)
    t.ok(createKeyedHash(left, 'token').verify('a secret', hashed), keys.slice(0, 1))
    t.ok(createKeyedHash(left, 'token').candidates('a secret').includes(hashed))
    t.notOk(createKeyedHash(left, 'token').verify('another', hashed))
    t.notOk(createKeyedHash(left, 'other').verify('a secret', hashed), 'another purpose is not kept')
    t.match(createKeyedHash(left, 'token').hash('x'), new RegExp(`^v1\\.${keys.slice(0, 1)}\\.`))
  }
})
