import { dice } from '@pitboss/fairness/games/dice'

const ulid = '01jd3v8x5q7r2m4n6p8s0t1w3y'
const startedAt = '2026-11-20T09:30:00.000Z'
const grantEndsAt = '2026-11-27T09:30:00.000Z'

/** What an object has in examples; undefined is left out. */
type UsualFields = {
  /** An object with all of these is one. */
  readonly marks: readonly string[]
  readonly fields: Readonly<Record<string, unknown>>
}

/** The winning round of all examples; its seeds give this roll. */
export const exampleRound = {
  game: 'dice',
  stake: '10.00',
  payout: '19.80',
  bet: { target: '50.00', direction: 'over' },
  multiplier: '1.9803',
  outcome: { roll: '91.71', target: '50.00', direction: 'over', won: true },
  end_reason: 'draw',
  fairness: {
    algorithm: 'fair-v1',
    server_seed_hash: '7b3d979ca8330a94fa7e9e1b466d8b99e0bcdea1ec90596c0dcc8d7ef6b4300c',
    client_seed: 'lucky-7',
    nonce: 8,
    server_seed: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
} as const

const walletAnswer = '{"status":"OK","balance":"90.00","currency":"EUR","transactionId":"W-778812"}'

/**
 * Fields that belong together: an active session is not closed, a delivered event has no error. The first
 * kind that an object is of counts.
 */
export const usualFields: readonly UsualFields[] = [
  {
    marks: ['session_id', 'expires_at', 'closed_at'],
    fields: {
      ...{ status: 'ACTIVE', brand: null, metadata: { table: 'lobby-2' }, limits: null, closed_at: null },
      ...{ expires_at: '2026-11-20T10:30:00.000Z', jurisdiction: undefined, stake_cap: undefined },
      reality_check_s: undefined,
    },
  },
  {
    marks: ['round_id', 'outcome', 'fairness'],
    fields: {
      ...exampleRound,
      ...{ status: 'SETTLED', progress: null, completed_at: '2026-11-20T09:30:01.180Z' },
    },
  },
  {
    marks: ['transaction_id', 'wallet_code', 'balance_after'],
    fields: {
      transaction_id: `bet_${ulid}`,
      ...{ type: 'BET', status: 'SUCCESS', reference_transaction_id: null, wallet_code: 'OK' },
      updated_at: '2026-11-20T09:30:00.090Z',
    },
  },
  {
    marks: ['operation', 'classification', 'request'],
    fields: {
      ...{ attempt: 1, operation: 'debit', latency_ms: 84, http_status: 200, wallet_code: 'OK' },
      ...{ classification: 'SUCCESS', error: null, response_excerpt: walletAnswer, next_attempt_at: null },
      request: {
        url: 'https://wallet.casino.example.com/debit',
        timestamp: '1795166400',
        request_id: `req_${ulid}`,
      },
    },
  },
  {
    marks: ['movement', 'attempts'],
    fields: { next_attempt_at: null, call_began_at: null, waiting_for: [] },
  },
  {
    marks: ['attempt', 'duration_ms'],
    fields: {
      ...{ attempt: 1, duration_ms: 38, http_status: 200, error: null, response_excerpt: 'stored' },
      ...{ hint: null, location: null },
      timings: { dns_ms: 0.8, connect_ms: 4.1, tls_ms: 9.7, first_byte_ms: 36.9, total_ms: 37.6 },
    },
  },
  {
    marks: ['delivery_id', 'ladder'],
    fields: {
      ...{ event_type: 'round.completed', status: 'DELIVERED', attempt_count: 1, next_attempt_at: null },
      ...{ delivered_at: '2026-11-20T09:30:01.260Z', waiting_for: null, ladder: [] },
    },
  },
  {
    marks: ['delivery_id', 'attempt_count'],
    fields: {
      ...{ event_type: 'round.completed', status: 'DELIVERED', attempt_count: 1, next_attempt_at: null },
      ...{ delivered_at: '2026-11-20T09:30:01.260Z', waiting_for: [] },
    },
  },
  {
    marks: ['round', 'movements', 'events'],
    fields: { waiting_for: [], receipt: null, complete: true },
  },
  {
    marks: ['webhook_id', 'failure_streak'],
    fields: {
      ...{ description: 'Ledger', events: ['round.completed'], status: 'ACTIVE', pause_reason: null },
      failure_streak: { consecutive_failed_attempts: 0, consecutive_failed_deliveries: 0, since: null },
      ...{ max_in_flight: 8, held: undefined },
    },
  },
  { marks: ['previous_valid_until'], fields: { previous_valid_until: '2026-11-21T09:30:00.000Z' } },
  {
    marks: ['replay_id', 'matched'],
    fields: {
      ...{ status: 'DONE', types: ['round.completed'], only: 'missing' },
      ...{ matched: 3, created: 3, delivered: 3, failed: 0 },
    },
  },
  {
    marks: ['grant_id', 'cancelled_at'],
    fields: {
      ...{ status: 'ACTIVE', stake: '1.00', count: 10, remaining: 7, cancelled_at: null },
      ...{ reference: 'spring-2026-0042', expires_at: grantEndsAt },
    },
  },
  { marks: ['grant_id', 'remaining'], fields: { remaining: 7, stake: '1.00', expires_at: grantEndsAt } },
  {
    // Without an end: a body with one is refused from then on.
    marks: ['player_id', 'count', 'expires_at'],
    fields: { stake: '1.00', count: 10, expires_at: undefined, reference: 'spring-2026-0042' },
  },
  {
    marks: ['slug', 'bet_schema'],
    fields: { name: 'Dice', enabled: true, status: 'AVAILABLE', bet_schema: dice.betSchema },
  },
  {
    marks: ['session', 'next_round'],
    fields: { balance: { amount: '90.00', currency: 'EUR' }, open_round: null, protection: undefined },
  },
  {
    marks: ['api_key', 'rotated_at'],
    fields: {
      ...{ name: 'Lobby server', scopes: ['sessions:write', 'events:read'], ip_allowlist: [] },
      ...{ status: 'ACTIVE', rotated_at: null, revoked_at: null, last_used_from: '203.0.113.7' },
      scopes_used: ['sessions:write'],
    },
  },
  {
    marks: ['user_id', 'totp_enabled'],
    fields: { name: 'Ada Lovelace', role: 'ADMIN', status: 'ACTIVE', totp_enabled: true },
  },
  { marks: ['brand_id', 'name'], fields: { name: 'Blue Casino', default_jurisdiction: undefined } },
  {
    marks: ['live_status', 'currencies'],
    fields: {
      ...{ name: 'Casino Example', plan: 'paid', live_status: 'APPROVED', currencies: ['EUR', 'USD'] },
      ...{ second_person: undefined, default_jurisdiction: undefined },
    },
  },
  { marks: ['id', 'name', 'mode'], fields: { name: 'Casino Example' } },
  { marks: ['view_id', 'query'], fields: { name: 'Refused today' } },
  {
    marks: ['timeout_ms', 'settle_losses'],
    fields: { url: 'https://wallet.casino.example.com', timeout_ms: 5000, same_ledger: undefined },
  },
  {
    marks: ['name', 'ok', 'hint'],
    fields: {
      ...{ name: 'reachable', ok: true, hint: null, actual: 'http status 200 after 84 ms' },
      expected: 'an answer from https://wallet.casino.example.com/balance within 5000 ms',
    },
  },
  {
    marks: ['name', 'ok', 'expected', 'actual'],
    fields: { name: 'payout', ok: true, expected: '19.80', actual: '19.80' },
  },
  { marks: ['valid', 'checks'], fields: { valid: true } },
  {
    marks: ['certification_id', 'certified'],
    fields: {
      ...{ url: 'https://casino.example.com/hooks/pitboss', status: 'DONE', certified: true, reason: null },
      ...{ cases_total: 37, passed: 37, failed: 0, skipped: 0, finished_at: '2026-11-20T09:30:10.000Z' },
      ...{ player_id: 'certification', blocked_player_id: null, unknown_player_id: null },
    },
  },
  {
    marks: ['outcome', 'exchanges_total'],
    fields: {
      ...{ id: 'signature-wrong', group: 'signature', title: 'A wrong signature is refused' },
      ...{ outcome: 'passed', duration_ms: 12, message: null, why: null, hint: null, exchanges_total: 1 },
    },
  },
  {
    marks: ['headers', 'body', 'answer'],
    fields: {
      ...{ path: '/', headers: { 'x-svc-event-type': 'round.completed' }, body: '{"id":"evt_…' },
      ...{ http_status: 401, answer: '', error: null, latency_ms: 11 },
    },
  },
  {
    marks: ['request_id', 'client_address'],
    fields: {
      ...{ at: startedAt, method: 'POST', status: 201, code: null, latency_ms: 12, answer: undefined },
      ...{ audit_id: 'aud_01jd3v8x5q7r2m4n6p8s0t1w3y', act: 'brand.create', before: null },
      ...{ object: { type: 'brand', id: `brd_${ulid}` }, after: { name: 'Blue Casino' } },
      ...{ actor: { kind: 'user', id: `usr_${ulid}`, name: 'ada@example.com' }, approval: undefined },
    },
  },
  {
    marks: ['last_request_id', 'told'],
    fields: {
      ...{ method: 'POST', status: 422, code: 'VALIDATION_ERROR', field: 'stake', count: 3 },
      ...{ path: '/v1/game/rounds', last_request_id: `req_${ulid}` },
      ...{ told: 'stake: must be a decimal string such as "10.00"', remedy: 'Send amounts as strings.' },
    },
  },
  {
    marks: ['approval_id', 'asked_by'],
    fields: {
      ...{ act: 'credential.delete', object: { type: 'credential', id: 'ck_live_4fQm2Lr8TzXw6Yb1Nc9Kd3Vh' } },
      ...{ status: 'PENDING', before: { name: 'Lobby server' }, after: null, decided_by: null },
      ...{ asked_by: { kind: 'user', id: `usr_${ulid}`, name: 'ada@example.com' } },
      ...{ expires_at: '2026-11-21T09:30:00.000Z', decided_at: null, ended_at: null, outcome: null },
    },
  },
  {
    marks: ['flag_id', 'transaction_ids'],
    fields: { rule: 'BIG_WIN', status: 'OPEN', amount: '990.00', transaction_ids: [`win_${ulid}`] },
  },
  {
    marks: ['flag_id', 'rule'],
    fields: {
      ...{ rule: 'BIG_WIN', status: 'OPEN', amount: '990.00', movements: 1, notes: 0 },
    },
  },
  { marks: ['by', 'text'], fields: { by: 'ada@example.com', text: 'Asked the wallet for its ledger.' } },
  {
    marks: ['stop_id', 'lifted_at'],
    fields: {
      ...{ status: 'IN_FORCE', reason: 'self-exclusion', until: '2027-05-20T00:00:00.000Z' },
      ...{ lifted_at: null, lift_reason: null, record: 'eyJhbGciOi…' },
    },
  },
  {
    marks: ['kind', 'next', 'amount'],
    fields: { used: '12.50', left: '37.50', amount: '50.00', next: null },
  },
  { marks: ['kind', 'period', 'amount'], fields: { amount: '50.00' } },
  { marks: ['at', 'reason', 'limits'], fields: { reason: 'the player asked for it' } },
  {
    marks: ['reconciliation_id', 'lines_total'],
    fields: {
      ...{ status: 'DONE', reason: null, lines_total: 38, lines: 38, matched: 37, differences_total: 1 },
      counts: { extra: 0, different: 1, missing: 0, duplicate: 0, unreadable: 0 },
      finished_at: '2026-11-20T09:30:02.000Z',
    },
  },
  {
    marks: ['kind', 'line', 'fields'],
    fields: {
      ...{ kind: 'different', line: 12, message: null, ours: null },
      fields: [{ field: 'amount', ours: '10.00', theirs: '1.00' }],
    },
  },
  { marks: ['ggr', 'restated_at'], fields: { restated_at: undefined } },
  {
    marks: ['active_sessions', 'complete'],
    fields: { active_sessions: 1, free_bets: 7, complete: true },
  },
  { marks: ['last_nonce', 'unfinished_round'], fields: { last_nonce: 8, unfinished_round: null } },
  { marks: ['nonce', 'commitment'], fields: { nonce: 8, state: 'PLAYED' } },
  { marks: ['nonce', 'server_seed_hash'], fields: { ...exampleRound.fairness, status: 'SETTLED' } },
  {
    marks: ['play', 'deliveries', 'steps'],
    fields: { steps: { key: true, wallet: true, endpoint: true, delivery: true, round: true } },
  },
  {
    marks: ['breaker_open', 'unresolved'],
    fields: { configured: true, oldest_unresolved: null },
  },
  {
    marks: ['ever_delivered', 'endpoints'],
    fields: { oldest_pending_at: null, endpoints: 1, paused: [], failing: [], ever_delivered: true },
  },
  { marks: ['hour', 'ids_sha256'], fields: { hour: '2026-11-20T09:00:00.000Z', count: 4 } },
  { marks: ['shape', 'evidence', 'alarm'], fields: { alarm: null } },
  {
    marks: ['current', 'user_agent'],
    fields: { session_id: `fam_${ulid}`, user_agent: 'Mozilla/5.0', current: true },
  },
  { marks: ['jurisdiction', 'clauses'], fields: { start_gap_s: 5, reality_check_s: null } },
  {
    marks: ['type', 'schema', 'example'],
    fields: { type: 'round.started', description: 'A round opened.' },
  },
  { marks: ['type', 'id', 'webhook_id'], fields: { type: 'player', id: 'player-1', webhook_id: undefined } },
  {
    marks: ['build', 'text_version'],
    fields: { text: 'Rolled 91.71. You won 19.80 EUR at 1.98×', state: 'AGREES', reason: null },
  },
]
