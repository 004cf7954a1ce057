import t from 'tap'
import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { framesOf } from '../dashboard/src/replay/frames-of.ts'

const tail = '01jd3v8x5q7r2m4n6p8s0t1w3y'
const uuid = '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293'
const at = '2026-11-20T09:30:00.000Z'
type Round = Dossier['round']

function round(fields: Partial<Round>): Round {
  return {
    ...{ round_id: `rnd_${tail}`, session_id: `ses_${tail}`, player_id: 'ann', status: 'SETTLED' },
    ...{ stake: '1.00', payout: '0.00', currency: 'EUR', free_bet: false, game: 'dice', bet: null },
    ...{
      client_transaction_id: null,
      multiplier: '0',
      outcome: null,
      progress: null,
      wallet_round_id: uuid,
      wallet_game_id: uuid,
    },
    ...{ driver: 'game', environment: 'SANDBOX', created_at: at, completed_at: at, end_reason: 'draw' },
    fairness: {
      ...{ algorithm: 'fair-v1', server_seed_hash: 'b1', client_seed: null, nonce: 1, server_seed: null },
    },
    ...fields,
  }
}

const dice = round({
  bet: { target: '50.00', direction: 'over' },
  outcome: { roll: '62.79', target: '50.00', direction: 'over', won: true },
  ...{ payout: '1.98', multiplier: '1.9803' },
})
const mines = (won: boolean, opened: readonly number[]) =>
  round({
    ...{ game: 'mines', bet: { mines: 2 }, payout: '1.19', multiplier: '1.1957' },
    outcome: { tiles_opened: opened, bomb_positions: [3, 24], mines: 2, won },
  })

t.test('a round of dice is its bet, the roll and its end', (t) => {
  const frames = framesOf(dice) ?? []
  t.strictSame(
    frames.map(({ text, activity }) => [text, activity]),
    [
      ['Stake 1.00 EUR: roll over 50.00.', 'idle'],
      ['The roll.', 'showing'],
      ['Rolled 62.79. You won 1.98 EUR at 1.9803×.', 'idle'],
    ],
  )
  t.equal(frames[0]?.round.outcome, null, 'the bet shows no outcome')
  t.equal(frames[2]?.round, dice)
  t.end()
})

t.test('a round of mines is each pick in its order, and shows no mine before the end', (t) => {
  const frames = framesOf(mines(true, [7, 0])) ?? []
  t.strictSame(
    frames.map(({ text }) => text),
    [
      'Stake 1.00 EUR: 2 mines.',
      'Pick 1: row 2, column 3.',
      'Pick 1: row 2, column 3 is safe.',
      'Pick 2: row 1, column 1.',
      'Pick 2: row 1, column 1 is safe.',
      'Cashed out after 2 safe tiles. You won 1.19 EUR at 1.1957×.',
    ],
  )
  t.strictSame(
    frames.map(({ round: { progress }, tile }) => [progress?.tiles_opened, tile]),
    [
      [[], null],
      [[], 7],
      [[7], null],
      [[7], 0],
      [[7, 0], null],
      [undefined, null],
    ],
  )
  t.ok(frames.slice(0, -1).every(({ round: { outcome } }) => outcome === null))
  t.end()
})

t.test('the pick that hits a mine is not told as safe', (t) => {
  const texts = (framesOf(mines(false, [7, 3])) ?? []).map(({ text }) => text)
  t.strictSame(texts.slice(-2), [
    'Pick 2: row 1, column 4.',
    'Hit a mine after 1 safe tile. No win this time.',
  ])
  t.end()
})

t.test('a round that no page of ours has drawn to its end has no replay', (t) => {
  t.equal(framesOf({ ...dice, driver: 'operator' }), null)
  t.equal(framesOf({ ...dice, status: 'OPEN' }), null)
  t.equal(framesOf({ ...dice, status: 'VOIDED', outcome: null }), null)
  t.equal(framesOf({ ...dice, game: 'a-game-to-come' }), null)
  t.end()
})
