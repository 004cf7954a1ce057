import { randomBytes } from 'node:crypto'
import t from 'tap'
import { hasValidChecksum, newApiKey, newApiSecret } from '../../src/rules/key-pair.ts'

t.test('keys and secrets have the documented shape and a valid checksum', async (t) => {
  for (let round = 0; round < 200; round++) {
    const key = newApiKey('TEST', randomBytes)
    const secret = newApiSecret('LIVE', randomBytes)
    t.match(key, /^ck_test_[0-9A-Za-z]{24}$/)
    t.match(secret, /^cs_live_[0-9A-Za-z]{40}$/)
    t.ok(hasValidChecksum(key) && hasValidChecksum(secret))
    const flipped = secret.slice(0, 12) + (secret[12] === 'a' ? 'b' : 'a') + secret.slice(13)
    t.notOk(hasValidChecksum(flipped))
  }
})
