import { randomUUID } from 'node:crypto'
import { ServiceError } from '@pitboss/errors/service-error'
import { pino } from 'pino'
import t from 'tap'
import { createTokenVerifier } from '../src/verify-token.ts'
import { claimsFor, newTestKey, signToken } from '@pitboss/testing/sign-token'

await t.test(
  'of 300 tokens that name unknown keys 100 wait for the next load, good ones never',
  async (t) => {
    const [known, unknown] = [await newTestKey('known'), await newTestKey('unknown')]
    let loads = 0
    const verifier = createTokenVerifier({
      async loadKeys() {
        loads += 1
        return [known.jwk]
      },
      logger: pino({ level: 'silent' }),
      nowMs: Date.now,
      verifiedMax: 10,
    })
    const claims = claimsFor('operator-api', 'ck_test_a', randomUUID())
    const [good, forged] = [await signToken(known, claims), await signToken(unknown, claims)]
    await verifier.verify(good)
    const codes = new Map<string, number>()
    const all = Array.from({ length: 300 }, async () => {
      const error: unknown = await verifier.verify(forged).catch((reason: unknown) => reason)
      const code = error instanceof ServiceError ? error.code : String(error)
      codes.set(code, (codes.get(code) ?? 0) + 1)
    })
    t.match(await verifier.verify(good), { sub: 'ck_test_a' })
    await Promise.all(all)
    t.same(Object.fromEntries(codes), { SERVICE_UNAVAILABLE: 200, INVALID_CREDENTIALS: 100 })
    t.equal(loads, 2, 'one load for all of them')
    await t.rejects(verifier.verify(forged), { code: 'INVALID_CREDENTIALS' }, 'the places are free again')
  },
)
