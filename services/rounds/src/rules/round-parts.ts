import type { RoundState, Stake, Win } from './round.ts'

/** Ends the round when its last stake was given back. */
export function endWhenNothingIsLeft(round: RoundState, reason: string): RoundState {
  if (round.status !== 'PENDING' && round.status !== 'OPEN') return round
  const left = round.stakes.some(({ state }) => state !== 'RETURNED' && state !== 'REFUSED')
  if (left) return round
  return {
    ...round,
    status: 'VOIDED',
    payout: 0n,
    progress: null,
    multiplier: null,
    endReason: round.endReason ?? reason,
  }
}

/**
 * Settles the round once its credits are acknowledged and no reversal is on its way. From then on
 * `round.completed` and the record agree. Source: docs/contract.md, section 12.
 */
export function settleWhenPaid(round: RoundState): RoundState {
  const owed = [...round.wins, ...round.reversals].some(({ state }) => state === 'OWED')
  return round.status === 'SETTLING' && !owed ? { ...round, status: 'SETTLED' } : round
}

export function withStake(round: RoundState, stake: Stake): RoundState {
  const { transactionId } = stake
  return {
    ...round,
    stakes: round.stakes.map((one) => (one.transactionId === transactionId ? stake : one)),
  }
}

export function withWin(round: RoundState, win: Win): RoundState {
  const { transactionId } = win
  return { ...round, wins: round.wins.map((one) => (one.transactionId === transactionId ? win : one)) }
}
