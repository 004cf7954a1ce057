import t from 'tap'
import { paidByHand } from '../src/check/paid-by-hand.ts'

const settled = { status: 'SETTLED', driver: 'game', end_reason: null, stake: '10.00' }
const dice = { ...settled, game: 'dice', outcome: { target: '50.00', direction: 'over', won: true } }
const mines = {
  ...{ ...settled, game: 'mines', stake: '5.00' },
  outcome: { tiles_opened: [0, 1], bomb_positions: [19, 22, 7], won: true },
}

t.test('payouts are worked out from the words of the contract, and cut', async (t) => {
  t.equal(paidByHand(dice), '19.80', '10.00 × 0.99 × 10000 / 4999 = 19.8039…')
  t.equal(paidByHand({ ...dice, stake: '237' }), '469', 'without decimals: 469.35…')
  t.equal(paidByHand({ ...dice, stake: '0.237' }), '0.469')
  t.equal(paidByHand({ ...dice, outcome: { ...dice.outcome, won: false } }), '0.00')
  t.equal(paidByHand({ ...dice, end_reason: 'win_failed' }), '0.00')
  t.equal(paidByHand(mines), '6.42', '5.00 × 0.99 × 300 / 231 = 6.4285…')
  const spin = { ...settled, game: 'spin-bottle', outcome: { sectors: 8, won: true } }
  t.equal(paidByHand(spin), '79.20')
  t.equal(paidByHand({ ...dice, driver: 'operator' }), null)
  t.equal(paidByHand({ ...dice, status: 'VOIDED', outcome: null }), null)
})
