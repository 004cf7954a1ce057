import { newSecret } from '@pitboss/runtime/new-secret'
import { createHmac } from 'node:crypto'
import t from 'tap'
import { replaySlots } from '@pitboss/contracts/delivery-pace'
import { planClaims, waitOf } from '../../src/rules/choose-due.ts'
import { deliveryIdOf } from '../../src/storage/new-delivery.ts'
import { freshHealth } from '../../src/rules/endpoint-health.ts'
import { signatureHint } from '../../src/rules/signature-hint.ts'
import { rotateSecrets, secretsValidAt, type StoredSecret } from '../../src/rules/signing-secrets.ts'

const many = (lane: string) => Array.from({ length: 100 }, () => lane)

t.test('fresh deliveries precede old ones three to one, a replay takes at most its quarter', (t) => {
  let turns = { all: 0, normal: 0 }
  const counts = { fresh: 0, retry: 0, replay: 0 }
  for (let claim = 0; claim < 160; claim++) {
    const due = { fresh: many('fresh'), retry: many('retry'), replay: many('replay'), manual: [] }
    const plan = planClaims<string>({ free: 1, replayFree: 1, due, turns })
    turns = plan.turns
    for (const lane of plan.chosen)
      if (lane === 'fresh' || lane === 'retry' || lane === 'replay') counts[lane] += 1
  }
  t.strictSame(counts, { fresh: 90, retry: 30, replay: 40 })
  t.end()
})

t.test('a lane alone gets every slot, except replays; manual deliveries are first', (t) => {
  const none = { fresh: [], retry: [], replay: [], manual: [] }
  const turns = { all: 0, normal: 0 }
  const plan = (due: Partial<Record<keyof typeof none, string[]>>, replayFree = 2) =>
    planClaims<string>({ free: 8, replayFree, due: { ...none, ...due }, turns }).chosen
  t.equal(plan({ retry: many('retry') }).length, 8)
  t.strictSame(plan({ replay: many('replay') }), ['replay', 'replay'])
  t.strictSame(plan({ replay: many('replay') }, 0), [])
  t.equal(plan({ fresh: many('fresh'), manual: ['manual'] })[0], 'manual')
  t.strictSame([8, 4, 2, 1].map(replaySlots), [2, 1, 1, 1])
  t.end()
})

t.test('a delivery has one id, in the order of its event', (t) => {
  const event = 'evt_01m1c0a7v8e5q2t9hjkmnpqrst'
  const id = deliveryIdOf(event, 'whe_a')
  t.match(id, /^dlv_[0-9a-hjkmnp-tv-z]{26}$/)
  t.equal(id, deliveryIdOf(event, 'whe_a'))
  t.not(id, deliveryIdOf(event, 'whe_b'))
  t.equal(id.slice(4, 14), event.slice(4, 14))
  t.end()
})

t.test('secrets: the newest and those within their overlap sign, at most three', (t) => {
  const now = new Date('2026-11-20T00:00:00.000Z')
  const later = (s: number) => new Date(now.getTime() + s * 1000)
  t.match(newSecret('whsec'), /^whsec_[0-9A-Za-z]{32}$/)
  const first = [{ sealed: 'a', createdAt: now, validUntil: null }]
  const second = rotateSecrets(first, { sealed: 'b', now, overlapS: 100 })
  t.strictSame(second.previousValidUntil, later(100))
  const third = rotateSecrets(second.secrets, { sealed: 'c', now: later(10), overlapS: 1000 })
  const names = (secrets: StoredSecret[], s: number) =>
    secretsValidAt(secrets, later(s)).map(({ sealed }) => sealed)
  t.strictSame(names(third.secrets, 20), ['c', 'b', 'a'])
  t.strictSame(names(third.secrets, 100), ['c', 'b'], "the first rotation's overlap ends on its own time")
  t.strictSame(names(third.secrets, 1010), ['c'])
  const fourth = rotateSecrets(third.secrets, { sealed: 'd', now: later(20), overlapS: 1000 })
  t.strictSame(names(fourth.secrets, 30), ['d', 'c', 'b'])
  const atOnce = rotateSecrets(third.secrets, { sealed: 'e', now: later(20), overlapS: 0 })
  t.equal(atOnce.previousValidUntil, null)
  t.strictSame(names(atOnce.secrets, 20), ['e', 'b', 'a'])
  t.end()
})

t.test('each common mistake in checking a signature is named', (t) => {
  const body = JSON.stringify({ id: 'evt_1', data: { b: 'é/ü', a: 1 } })
  const timestamp = '1763631000'
  const [secret, old] = ['whsec_new', 'whsec_old']
  const sign = (text: string, key = secret, encoding: 'hex' | 'base64' = 'hex') =>
    createHmac('sha256', key).update(text).digest(encoding)
  const hint = (computed: string) =>
    signatureHint({ computed, body, timestamp, secrets: [secret], oldSecrets: [old] })
  const python = '{"id": "evt_1", "data": {"b": "\\u00e9/\\u00fc", "a": 1}}'
  const cases: [string, RegExp][] = [
    [sign(`${timestamp}.${python}`), /^re-serialised JSON/],
    [sign(`${timestamp}.${JSON.stringify(JSON.parse(body), null, 2)}`), /^re-serialised JSON/],
    [sign(`${timestamp}.${body}\n`), /newline/],
    [sign(`${timestamp}.${body}`, old), /^old secret/],
    [sign(`${timestamp}000.${body}`), /^milliseconds/],
    [sign(`${timestamp}${body}`), /^missing dot/],
    [sign(`${timestamp}.${body}`, secret, 'base64'), /^base64/],
    [sign(`${timestamp}.${body}`, 'new'), /whsec_/],
    [`v1=${sign(`${timestamp}.${body}`)}`, /right/],
  ]
  for (const [computed, words] of cases) t.match(hint(computed), words)
  t.equal(hint('0'.repeat(64)), null)
  t.equal(hint(''), null)
  const trailing = signatureHint({
    computed: sign(`${timestamp}.{}`),
    body: '{}\n',
    timestamp,
    secrets: [secret],
    oldSecrets: [],
  })
  t.match(trailing, /^trimmed newline/)
  t.end()
})

t.test('the reason of a waiting delivery, in plain words', (t) => {
  const now = new Date('2026-11-20T12:04:00.000Z')
  const later = new Date('2026-11-20T12:04:30.000Z')
  const delivery = {
    status: 'PENDING',
    lane: 'retry',
    claimToken: 0,
    claimedAt: null,
    nextAttemptAt: now,
    attemptCount: 2,
    attempts: [{ error: 'HTTP 500' }],
  } as const
  const words = (changes: Partial<Parameters<typeof waitOf>[0]>) =>
    waitOf({
      delivery,
      health: freshHealth,
      inFlight: 0,
      replayInFlight: 0,
      probing: null,
      now,
      ...changes,
    })?.words ?? null
  const open = { ...freshHealth, breaker: { ...freshHealth.breaker, probeAt: later } }
  t.equal(words({ health: open, probing: 'evt_1' }), 'breaker open until 12:04:30, probing with evt_1')
  t.equal(
    words({ delivery: { ...delivery, status: 'HELD' }, health: { ...freshHealth, pauseReason: 'GONE' } }),
    'paused: 410 Gone',
  )
  t.equal(words({ inFlight: 8 }), '8 of 8 in flight')
  t.equal(
    words({ delivery: { ...delivery, nextAttemptAt: later } }),
    'attempt 3 is due at 12:04:30, after HTTP 500',
  )
  t.equal(
    words({ delivery: { ...delivery, attemptCount: 3, claimToken: 1, claimedAt: now } }),
    'attempt 3 is under way since 12:04:00',
  )
  t.match(words({}), /^due now/)
  t.equal(words({ delivery: { ...delivery, status: 'DELIVERED' } }), null)
  t.end()
})
