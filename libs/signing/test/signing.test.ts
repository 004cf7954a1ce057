import t from 'tap'
import { signatureTimestamp, signBody, verifyBody } from '../src/body-signature.ts'

// printf '%s' '1732095000.{"a":1}' | openssl dgst -sha256 -hmac 'whsec_test'
const SIGNATURE = '33c6d643f2afa3062ee79f8a6ca52e8ef9f1c006df8522154b71c1cc77b5336f'
const VALID = {
  secret: 'whsec_test',
  timestamp: '1732095000',
  signature: SIGNATURE,
  rawBody: '{"a":1}',
  nowS: 1732095000,
}

await t.test('the signature equals what openssl computes', async (t) => {
  t.equal(signBody('whsec_test', '1732095000', '{"a":1}'), SIGNATURE)
  t.equal(signBody('whsec_test', '1732095000', new TextEncoder().encode('{"a":1}')), SIGNATURE)
  t.equal(signatureTimestamp(new Date(1732095000999)), '1732095000')
})

await t.test('a right signature is accepted up to the edge of the window on both sides', async (t) => {
  for (const nowS of [1732095000, 1732095300, 1732094700, 1732095300.9]) {
    t.same(verifyBody({ ...VALID, nowS }), { ok: true }, String(nowS))
  }
})

await t.test('everything else is refused with its reason', async (t) => {
  const cases: Array<[object, string]> = [
    [{ nowS: 1732095301 }, 'TIMESTAMP_OUTSIDE_WINDOW'],
    [{ nowS: 1732094699 }, 'TIMESTAMP_OUTSIDE_WINDOW'],
    [{ timestamp: undefined }, 'TIMESTAMP_MALFORMED'],
    [{ timestamp: '1732095000000' }, 'TIMESTAMP_MALFORMED'],
    [{ timestamp: '1732095e03' }, 'TIMESTAMP_MALFORMED'],
    [{ timestamp: '2024-11-20T09:30:00Z' }, 'TIMESTAMP_MALFORMED'],
    [{ signature: undefined }, 'SIGNATURE_MALFORMED'],
    [{ signature: '' }, 'SIGNATURE_MALFORMED'],
    [{ signature: `v1=${SIGNATURE}` }, 'SIGNATURE_MALFORMED'],
    [{ signature: SIGNATURE.slice(0, 63) }, 'SIGNATURE_MALFORMED'],
    [{ signature: SIGNATURE.toUpperCase() }, 'SIGNATURE_MALFORMED'],
    [{ signature: '0'.repeat(64) }, 'SIGNATURE_MISMATCH'],
    [{ secret: 'whsec_other' }, 'SIGNATURE_MISMATCH'],
    [{ rawBody: '{"a": 1}' }, 'SIGNATURE_MISMATCH'],
    [{ timestamp: '1732095001' }, 'SIGNATURE_MISMATCH'],
  ]
  for (const [change, reason] of cases) {
    t.same(
      verifyBody({ ...VALID, ...change }),
      { ok: false, reason },
      `${JSON.stringify(change)} → ${reason}`,
    )
  }
})
