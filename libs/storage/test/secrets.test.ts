import t from 'tap'
import { canonicalJson } from '@pitboss/contracts/json'
import { createCursorCodec } from '../src/cursor.ts'
import { createSecretBox } from '../src/stored-secrets.ts'
import { parseKeyring } from '../src/keyring.ts'
import { testKeyring } from './fixtures/test-storage.ts'

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')

await t.test(
  'a keyring derives one key per purpose and key id, as HKDF-SHA256 of RFC 5869 does',
  async (t) => {
    const keyring = parseKeyring(`new:${key(1)},old:${key(2)}`)
    t.equal(keyring.currentKid, 'new')
    t.strictSame(keyring.kids, ['new', 'old'])
    t.equal(
      keyring.derive('cursor', 'new').toString('hex'),
      'e133df2ba704660fd7cc55c5fc30e17f8738b97f69abc2a418df79247996d4da',
    )
    t.not(keyring.derive('cursor', 'new').toString('hex'), keyring.derive('cursor', 'old').toString('hex'))
    t.not(
      keyring.derive('cursor', 'new').toString('hex'),
      keyring.derive('secret-box', 'new').toString('hex'),
    )
    t.throws(() => keyring.derive('cursor', 'gone'), RangeError)
  },
)

await t.test('bad master keys are refused without being repeated', async (t) => {
  const short = Buffer.alloc(16, 7).toString('base64')
  for (const text of ['', 'a', `a:${short}`, `a:${key(1)},a:${key(2)}`, `a:${key(1)},`, `a b:${key(1)}`]) {
    t.throws(() => parseKeyring(text), RangeError)
  }
  try {
    parseKeyring(`a:${short}`)
  } catch (error) {
    t.notMatch(String(error), short)
  }
})

await t.test(
  'a secret opens for its record alone, under any key that is still there, and never when altered',
  async (t) => {
    const old = parseKeyring(`old:${key(2)}`)
    const rotated = parseKeyring(`new:${key(1)},old:${key(2)}`)
    const sealed = createSecretBox(old).seal('whsec_ü', 'webhook/whe_1')
    t.match(sealed, /^v1\.old\.[A-Za-z0-9_-]+$/)
    t.not(sealed, createSecretBox(old).seal('whsec_ü', 'webhook/whe_1'))
    const box = createSecretBox(rotated)
    t.equal(box.open(sealed, 'webhook/whe_1'), 'whsec_ü')
    t.match(box.seal('x', 'y'), /^v1\.new\./)
    t.throws(() => box.open(sealed, 'webhook/whe_2'))
    t.throws(() => createSecretBox(rotated, 'other').open(sealed, 'webhook/whe_1'))
    t.throws(() => createSecretBox(testKeyring('new')).open(sealed, 'webhook/whe_1'))
    const bytes = Buffer.from(sealed.split('.')[2] ?? '', 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes)
      altered.writeUInt8(altered.readUInt8(at) ^ 1, at)
      t.throws(() => box.open(`v1.old.${altered.toString('base64url')}`, 'webhook/whe_1'))
    }
    for (const junk of ['', 'v1', 'v1.old', 'v1.old.AAAA', 'v2.old.AAAA', `${sealed}.x`])
      t.throws(() => box.open(junk, ''))
  },
)

await t.test('a cursor leads back to its position in its own list alone', async (t) => {
  const keyring = parseKeyring(`old:${key(2)}`)
  const codec = createCursorCodec({ keyring })
  const binding = {
    list: 'events',
    operatorId: 'op',
    environment: 'LIVE',
    filters: { type: null, from: 'x' },
  }
  const cursor = codec.encode(binding, { seq: 7 })
  t.match(cursor, /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{22}$/)
  const reordered = {
    filters: { from: 'x', type: null },
    environment: 'LIVE',
    operatorId: 'op',
    list: 'events',
  }
  t.strictSame(codec.decode(reordered, cursor), { seq: 7 })
  const rotated = createCursorCodec({ keyring: parseKeyring(`new:${key(1)},old:${key(2)}`) })
  t.strictSame(rotated.decode(binding, cursor), { seq: 7 })
  const refused = { code: 'VALIDATION_ERROR', details: [{ path: 'cursor' }] }
  for (const other of [
    { ...binding, environment: 'SANDBOX' },
    { ...binding, operatorId: 'other' },
    { ...binding, list: 'rounds' },
    { ...binding, filters: { type: 'x', from: 'x' } },
  ]) {
    t.throws(() => codec.decode(other, cursor), refused)
  }
  const forged = `${Buffer.from('["old",{"seq":8}]').toString('base64url')}.${cursor.split('.')[1]}`
  for (const junk of [
    '',
    '.',
    'x',
    `${cursor}x`,
    `${cursor}.x`,
    cursor.slice(1),
    cursor.toUpperCase(),
    forged,
    `${'a'.repeat(5000)}.x`,
  ]) {
    t.throws(() => codec.decode(binding, junk), refused, junk.slice(0, 40))
  }
})

await t.test('cursors that earlier releases gave out are good under the same key', async (t) => {
  const codec = createCursorCodec({ keyring: parseKeyring(`new:${key(1)},old:${key(2)}`) })
  const scope = { operatorId: '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293', environment: 'LIVE' }
  const rounds = { list: 'rounds', scope, filters: { player_id: 'ann', status: 'SETTLED' } }
  const ofRounds = 'WyJvbGQiLCJybmRfMDFqZDN2OHg1cTdyMm00bjZwOHMwdDF3M3kiXQ.-SG98M1hXCZqlwC8WY6mrQ'
  t.equal(codec.decode(rounds, ofRounds), 'rnd_01jd3v8x5q7r2m4n6p8s0t1w3y')
  const events = ['events', scope.operatorId, 'LIVE', 'round.completed', 'default', null]
  const ofEvents = 'WyJvbGQiLHsic2VxIjo3LCJmcm9tIjoxNzYzNjgzMjAwMDAwfV0.HNDn3MB8CVshZBQQkY_hQg'
  t.strictSame(codec.decode(events, ofEvents), { seq: 7, from: 1_763_683_200_000 })
  t.throws(() => codec.decode({ ...rounds, filters: {} }, ofRounds), { code: 'VALIDATION_ERROR' })
})

await t.test('canonical JSON does not depend on field order', async (t) => {
  t.equal(canonicalJson({ b: [{ d: 1, c: null }], a: 'x', e: undefined }), '{"a":"x","b":[{"c":null,"d":1}]}')
  t.equal(canonicalJson({ Z: 1, a: 2 }), '{"Z":1,"a":2}')
})
