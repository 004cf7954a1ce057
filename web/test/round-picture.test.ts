import t from 'tap'
import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { durationText, layOut, narrowScale, scale } from '../dashboard/src/picture/lay-out.ts'
import { stepsOfRound } from '../dashboard/src/picture/steps-of-round.ts'

const at = (ms: number) => new Date(Date.parse('2026-11-20T09:30:00.000Z') + ms).toISOString()
const tail = '01jd3v8x5q7r2m4n6p8s0t1w3y'
const uuid = '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293'

const movement: Dossier['movements'][number]['movement'] = {
  ...{ transaction_id: 'bet-1', reference: `txn_${tail}`, type: 'BET', status: 'SUCCESS', amount: '1.00' },
  ...{ currency: 'EUR', player_id: 'ann', session_id: `ses_${tail}`, round_id: `rnd_${tail}`, game: 'dice' },
  ...{ free_bet: false, reference_transaction_id: null, wallet_transaction_id: null, wallet_code: 'OK' },
  ...{ balance_after: '99.00', environment: 'SANDBOX', created_at: at(1), updated_at: at(9) },
}
const call: Dossier['movements'][number]['attempts'][number] = {
  ...{ attempt: 1, operation: 'debit', sent_at: at(5), latency_ms: 40, http_status: 500, wallet_code: null },
  ...{ classification: 'UNKNOWN', request: null, error: 'http status 500', response_excerpt: null },
  next_attempt_at: null,
}
const again: typeof call = {
  ...{ ...call, attempt: 2, sent_at: at(2000), latency_ms: 3, http_status: 200, wallet_code: 'OK' },
  ...{ classification: 'SUCCESS', error: null },
}
const facts = { next_attempt_at: null, call_began_at: null, rollback_owed: false, waiting_for: [] }
const sent = { attempt: 1, sent_at: at(2100), duration_ms: 4, http_status: 503, error: 'HTTP 503' }
const dossier: Dossier = {
  round: {
    ...{ round_id: `rnd_${tail}`, session_id: `ses_${tail}`, player_id: 'ann', game: 'dice' },
    ...{ status: 'SETTLED', stake: '1.00', payout: '1.98', currency: 'EUR', free_bet: false, bet: null },
    ...{
      client_transaction_id: null,
      multiplier: null,
      outcome: null,
      progress: null,
      wallet_round_id: uuid,
      wallet_game_id: uuid,
    },
    ...{
      driver: 'game',
      environment: 'SANDBOX',
      created_at: at(0),
      completed_at: at(2050),
      end_reason: null,
    },
    fairness: {
      ...{ algorithm: 'fair-v1', server_seed_hash: 'b1', client_seed: null, nonce: 1, server_seed: null },
    },
  },
  waiting_for: [],
  movements: [{ movement, attempts: [call, again], ...facts }],
  events: [
    {
      event: {
        ...{ id: `evt_${tail}`, type: 'round.completed', created_at: at(2050), environment: 'SANDBOX' },
        ...{ operator_id: uuid, data: {} },
      },
      deliveries: [
        {
          ...{ delivery_id: `dlv_${tail}`, webhook_id: `whe_${tail}`, event_id: `evt_${tail}` },
          ...{ event_type: 'round.completed', status: 'PENDING', attempt_count: 2, next_attempt_at: null },
          ...{ last_attempt: null, created_at: at(2060), delivered_at: null, waiting_for: [] },
          attempts: [sent, { ...sent, attempt: 2, sent_at: at(7100), http_status: null, error: 'timeout' }],
        },
      ],
    },
  ],
  verification: null,
  receipt: null,
  complete: true,
}

t.test('the picture of a round tells everything in the order of time', async (t) => {
  const steps = stepsOfRound(dossier)
  t.strictSame(
    steps.map(({ text, tone, from, to }) => [from, to, text, tone]),
    [
      [0, 1, 'bets 1.00 EUR', 'plain'],
      [1, 2, 'debit 1.00', 'plain'],
      [2, 1, '? http status 500', 'unknown'],
      [1, 2, 'debit 1.00, call 2', 'plain'],
      [2, 1, 'OK, settles call 1', 'good'],
      [1, 3, 'round.completed', 'plain'],
      [1, 0, 'gets 1.98 EUR', 'good'],
      [3, 4, 'round.completed: 503', 'problem'],
      [3, 4, 'round.completed: ?, attempt 2', 'unknown'],
    ],
  )
})

t.test('on a phone the drawing is as wide as its card, and each arrow has a line of words', (t) => {
  const { rows, width } = layOut(stepsOfRound(dossier), 'UTC', narrowScale)
  t.ok(width <= 310, `${width} px`)
  t.ok(rows.every(({ x1, x2 }) => x1 > 0 && x2 > 0 && x1 < width && x2 < width))
  const gaps = rows.slice(1).map(({ y }, index) => y - (rows[index]?.y ?? 0))
  t.ok(gaps.every((px) => px >= narrowScale.rowMin && px <= narrowScale.pauseMax))
  t.end()
})

t.test('time runs down to scale, and a long pause is cut and told', async (t) => {
  const { rows, height } = layOut(stepsOfRound(dossier))
  const ys = rows.map(({ y }) => y)
  t.strictSame(
    ys,
    ys.toSorted((a, b) => a - b),
  )
  const gaps = rows.slice(1).map(({ y, cutMs }, index) => ({ px: y - (ys[index] ?? 0), cutMs }))
  t.ok(gaps.every(({ px }) => px >= scale.rowMin && px <= scale.pauseMax))
  t.strictSame(
    gaps.flatMap(({ cutMs }) => (cutMs === null ? [] : [cutMs])),
    [1955, 5000],
  )
  t.ok(height > (ys.at(-1) ?? 0))
  t.equal(durationText(192_000), '3 min 12 s')
  t.equal(durationText(40), '40 ms')
})
