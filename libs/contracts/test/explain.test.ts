import t from 'tap'
import { explain } from '../src/explain.ts'
import type { DeliveryFacts, MovementFacts } from '../src/objects/dossier.ts'
import { movementStatus, movementType } from '../src/objects/movement.ts'
import { type Round, roundStatus } from '../src/objects/round.ts'
import { deliveryStatus } from '../src/objects/webhook.ts'

const id = (prefix: string) => `${prefix}_01jd3v8x5q7r2m4n6p8s0t1w3y`
const uuid = '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293'
const now = new Date('2026-11-20T09:30:00.000Z')
const before = '2026-11-20T09:29:50.000Z'
const later = '2026-11-20T09:33:12.000Z'

const attempt: MovementFacts['attempts'][number] = {
  ...{ attempt: 1, operation: 'debit', sent_at: before, latency_ms: 5000, http_status: null },
  ...{ wallet_code: null, classification: 'UNKNOWN', request: null, error: 'no answer within 5000 ms' },
  ...{ response_excerpt: null, next_attempt_at: later },
}

const facts: MovementFacts = {
  movement: {
    ...{ transaction_id: 'bet-1', reference: id('txn'), type: 'BET', status: 'PENDING', amount: '10.00' },
    ...{ currency: 'EUR', player_id: 'player-1', session_id: id('ses'), round_id: id('rnd'), game: 'dice' },
    ...{ free_bet: false, reference_transaction_id: null, wallet_transaction_id: null, wallet_code: null },
    ...{ balance_after: null, environment: 'SANDBOX', created_at: before, updated_at: before },
  },
  ...{ attempts: [], next_attempt_at: null, call_began_at: null, rollback_owed: false },
}

const delivery: DeliveryFacts = {
  ...{ delivery_id: id('dlv'), webhook_id: id('whe'), event_id: id('evt'), event_type: 'round.completed' },
  ...{ status: 'PENDING', attempt_count: 0, next_attempt_at: null, last_attempt: null, created_at: before },
  ...{ delivered_at: null, attempts: [], wait: null },
}

const round: Omit<Round, 'status' | 'driver'> = {
  ...{ round_id: id('rnd'), session_id: id('ses'), player_id: 'player-1', game: 'dice', stake: '10.00' },
  ...{ payout: null, currency: 'EUR', free_bet: false, bet: null, multiplier: null, outcome: null },
  ...{
    client_transaction_id: null,
    progress: null,
    wallet_round_id: uuid,
    wallet_game_id: uuid,
    environment: 'SANDBOX',
  },
  ...{ created_at: before, completed_at: null, end_reason: null },
  fairness: {
    algorithm: 'fair-v1',
    ...{ server_seed_hash: 'b1', client_seed: null, nonce: 7, server_seed: null },
  },
}

/** Every way in which the tries of a movement can stand. */
function movements(): MovementFacts[] {
  const calls: (readonly MovementFacts['attempts'][number][])[] = [
    [],
    [attempt],
    [{ ...attempt, classification: 'REFUSED', wallet_code: 'ERROR' }],
    [{ ...attempt, classification: 'SUCCESS', wallet_code: 'OK' }],
    [{ ...attempt, error: null, http_status: 500 }],
    [{ ...attempt, error: null }],
  ]
  const plans = [
    {},
    { next_attempt_at: later },
    { next_attempt_at: before },
    { call_began_at: before },
    { rollback_owed: true },
  ]
  return movementType.options.flatMap((type) =>
    movementStatus.options.flatMap((status) =>
      calls.flatMap((attempts) =>
        plans.map((plan) => ({
          ...facts,
          movement: { ...facts.movement, type, status },
          attempts: [...attempts],
          ...(status === 'PENDING' ? plan : {}),
        })),
      ),
    ),
  )
}

function deliveries(): DeliveryFacts[] {
  const timings = { response_excerpt: null, timings: null, hint: null }
  const last = { attempt: 3, sent_at: before, duration_ms: 12, http_status: 500, error: 'HTTP 500' }
  const histories = [
    {},
    { attempt_count: 3, attempts: [last], last_attempt: { ...last, ...timings } },
    { attempt_count: 1, last_attempt: { ...last, ...timings, error: null } },
  ]
  const waits = [
    null,
    { words: 'paused: by hand', at: null },
    { words: 'attempt 4 is due at 09:33:12', at: later },
    { words: 'breaker open until 09:33:12', at: later },
    { words: 'breaker open until 09:29:50', at: before },
  ]
  return deliveryStatus.options.flatMap((status) =>
    histories.flatMap((history) => waits.map((wait) => ({ ...delivery, status, ...history, wait }))),
  )
}

t.test('every state of a movement, delivery and round has whole sentences', async (t) => {
  const rounds = roundStatus.options.flatMap((status) =>
    (['game', 'operator'] as const).flatMap((driver) =>
      [[], ...movements().map((one) => [one])].map((of) => ({
        kind: 'round' as const,
        round: { ...round, status, driver },
        movements: of,
      })),
    ),
  )
  const all = [
    ...movements().map((of) => ({ kind: 'movement' as const, facts: of })),
    ...deliveries().map((of) => ({ kind: 'delivery' as const, facts: of })),
    ...rounds,
  ]
  for (const about of all) {
    const sentences = explain(about, now)
    const texts = sentences.map(({ text }) => text)
    const name = JSON.stringify(texts)
    if (texts.length === 0 || texts.some((text) => !/^[A-Z].*\.$/.test(text))) t.fail(name)
    if (texts.some((text) => /undefined|null|NaN|Invalid/.test(text))) t.fail(name)
    if (new Set(texts).size !== texts.length) t.fail(`says something twice: ${name}`)
  }
  t.ok(all.length > 500)
})

t.test('an end is told in words, and not twice', (t) => {
  const told = (status: Round['status'], end_reason: string) => {
    const over = { ...round, status, driver: 'game' as const, end_reason }
    return explain({ kind: 'round', round: over, movements: [] }, now).map(({ text }) => text)
  }
  t.strictSame(told('FAILED', 'refused'), [
    'Over: the round never began, because its stake was not taken. The wallet refused it.',
  ])
  t.strictSame(told('VOIDED', 'abandoned'), [
    'Over: the round does not count. It was left open and ended by itself.',
  ])
  t.strictSame(told('SETTLED', 'cashout'), ['Over: the round is settled. The player cashed out.'])
  t.strictSame(told('SETTLED', 'toString'), ['Over: the round is settled. It ended by toString.'])
  t.end()
})

t.test('the next time is that of the facts, and no other time to come is named', async (t) => {
  for (const of of movements()) {
    const sentences = explain({ kind: 'movement', facts: of }, now)
    const isFree = of.call_began_at === null && !of.rollback_owed
    const planned = isFree && of.next_attempt_at === later ? later : null
    t.strictSame(
      sentences.flatMap(({ at }) => (at === null ? [] : [at])),
      planned === null ? [] : [planned],
    )
    const named = sentences.some(({ text }) => text.includes('at 09:33:12 UTC, in 3 min 12 s'))
    if (named !== (planned === later)) t.fail(JSON.stringify(sentences))
  }
  for (const of of deliveries()) {
    const waits = of.status === 'PENDING' || of.status === 'HELD'
    const times = explain({ kind: 'delivery', facts: of }, now).flatMap(({ at }) => (at === null ? [] : [at]))
    t.strictSame(times, waits && of.wait?.at === later ? [later] : [])
  }
})

t.test('a stake in doubt says why, and that nothing is taken back', (t) => {
  const said = (in_doubt: NonNullable<MovementFacts['in_doubt']>) =>
    explain({ kind: 'movement', facts: { ...facts, next_attempt_at: later, in_doubt } }, now)
  t.strictSame(
    said('taken-by-events').map(({ text }) => text),
    [
      'It is in doubt since a database was restored: events say that the stake was taken, and its round does not know it.',
      'Nothing is taken back until operations have compared it.',
    ],
  )
  t.match(said('no-round')[0]?.text, /: no round knows the stake\.$/)
  t.match(said('events-missing')[0]?.text, /: the events of that time are not all there\.$/)
  t.end()
})

t.test('a stake that was not answered says what happened, what is owed and when', async (t) => {
  const unclear = { ...facts, attempts: [attempt], next_attempt_at: later }
  t.strictSame(
    explain({ kind: 'movement', facts: unclear }, now).map(({ text }) => text),
    [
      'Call 1 to take the stake began at 09:29:50 UTC and ended without a clear answer: no answer within 5000 ms.',
      'Until the wallet answers clearly, nobody can say whether it was done.',
      'Call 2 to take the stake is due at 09:33:12 UTC, in 3 min 12 s.',
    ],
  )
  const owed = { ...facts, attempts: [attempt], rollback_owed: true }
  const pending: Round = { ...round, status: 'PENDING', driver: 'game' }
  const sentences = explain({ kind: 'round', round: pending, movements: [owed] }, now)
  t.match(sentences.at(-1)?.text, /a rollback of it is owed/)
  t.strictSame(sentences.at(-1)?.about, { type: 'transaction', id: 'bet-1' })
})
