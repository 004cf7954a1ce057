import t from 'tap'
import { verify } from '../src/verify-webhook.ts'

// printf '%s' '1732095000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_a (and whsec_b)
const BY_A = 'v1=f1f390c07a6ca4d3af3be0e0e40dfebf3caec8b87a92eb2252c750459c9dc26d'
const BY_B = 'v1=349584d201b98ebfb3ee434a9c29b2e2f0e7fe48fe6a152f21ab9887e2d6b966'
const body = '{"id":"evt_1"}'
const nowS = 1732095000
const headers = {
  'x-svc-event-id': 'evt_1',
  'x-svc-event-type': 'round.completed',
  'x-svc-timestamp': '1732095000',
  'x-svc-signature': BY_A,
  'x-svc-delivery-attempt': '3',
}

await t.test('a delivery signed by openssl verifies from text, bytes and Headers', async (t) => {
  const expected = {
    ok: true,
    eventId: 'evt_1',
    eventType: 'round.completed',
    timestampS: 1732095000,
    attempt: 3,
  }
  t.same(await verify(headers, body, 'whsec_a', { nowS }), expected)
  t.same(await verify(headers, new TextEncoder().encode(body), ['whsec_a'], { nowS }), expected)
  t.same(await verify(new Headers(headers), body, ['whsec_old', 'whsec_a'], { nowS }), expected)
  t.match(
    await verify({ 'X-Svc-Timestamp': '1732095000', 'X-Svc-Signature': [BY_A] }, body, 'whsec_a', { nowS }),
    { ok: true },
  )
})

await t.test('without Node’s own HMAC, as in a browser, the same verifies', async (t) => {
  const { getBuiltinModule } = process
  t.teardown(() => Object.assign(process, { getBuiltinModule }))
  Object.assign(process, { getBuiltinModule: undefined })
  const { href } = new URL('../src/verify-webhook.ts?browser', import.meta.url)
  const browser: { verify: typeof verify } = await import(href)
  t.match(await browser.verify(headers, body, 'whsec_a', { nowS }), { ok: true })
  t.match(await browser.verify(headers, new TextEncoder().encode(body), 'whsec_a', { nowS }), { ok: true })
  t.match(await browser.verify(headers, body, 'whsec_b', { nowS }), { reason: 'SIGNATURE_MISMATCH' })
})

await t.test('during a rotation either secret is enough, in any order', async (t) => {
  for (const signature of [`${BY_A} ${BY_B}`, `${BY_B} ${BY_A}`, `v2=zzz ${BY_A}`]) {
    t.match(
      await verify({ ...headers, 'x-svc-signature': signature }, body, 'whsec_a', { nowS }),
      { ok: true },
      signature,
    )
  }
})

await t.test('the window is 300 s on both sides unless told', async (t) => {
  t.match(await verify(headers, body, 'whsec_a', { nowS: nowS + 300 }), { ok: true })
  t.match(await verify(headers, body, 'whsec_a', { nowS: nowS - 300 }), { ok: true })
  t.match(await verify(headers, body, 'whsec_a', { nowS: nowS + 301 }), {
    reason: 'TIMESTAMP_OUTSIDE_TOLERANCE',
  })
  t.match(await verify(headers, body, 'whsec_a', { nowS: nowS + 60, toleranceS: 30 }), {
    reason: 'TIMESTAMP_OUTSIDE_TOLERANCE',
  })
})

await t.test('everything else fails with its reason and never throws', async (t) => {
  const cases: Array<[object, string, string | string[], string]> = [
    [{ 'x-svc-signature': undefined }, body, 'whsec_a', 'MISSING_HEADER'],
    [{ 'x-svc-timestamp': undefined }, body, 'whsec_a', 'MISSING_HEADER'],
    [{ 'x-svc-timestamp': '1732095000000' }, body, 'whsec_a', 'MALFORMED_TIMESTAMP'],
    [{ 'x-svc-signature': BY_A.slice(3) }, body, 'whsec_a', 'NO_KNOWN_SIGNATURE'],
    [{ 'x-svc-signature': `v2=${BY_A.slice(3)}` }, body, 'whsec_a', 'NO_KNOWN_SIGNATURE'],
    [{ 'x-svc-signature': BY_A.toUpperCase() }, body, 'whsec_a', 'NO_KNOWN_SIGNATURE'],
    [{ 'x-svc-signature': BY_B }, body, 'whsec_a', 'SIGNATURE_MISMATCH'],
    [{}, `${body}\n`, 'whsec_a', 'SIGNATURE_MISMATCH'],
    [{}, '{"id": "evt_1"}', 'whsec_a', 'SIGNATURE_MISMATCH'],
    [{}, body, 'a', 'SIGNATURE_MISMATCH'],
    [{ 'x-svc-timestamp': '1732095001' }, body, 'whsec_a', 'SIGNATURE_MISMATCH'],
    [{}, body, '', 'NO_SECRET'],
    [{}, body, [], 'NO_SECRET'],
  ]
  for (const [change, sent, secrets, reason] of cases) {
    t.match(await verify({ ...headers, ...change }, sent, secrets, { nowS }), { ok: false, reason }, reason)
  }
})
