import type { Step } from './round-message.ts'
import type { RoundState, Stake, Win } from './round.ts'

export function endWhenNothingIsLeft(round: RoundState, reason: string): RoundState {
  if (round.status !== 'PENDING' && round.status !== 'OPEN') return round
  const left = round.stakes.some(({ state }) => state !== 'RETURNED' && state !== 'REFUSED')
  if (left) return round
  const endReason = round.endReason ?? reason
  return { ...round, status: 'VOIDED', payout: 0n, progress: null, multiplier: null, endReason }
}

/** Settles it once credits are acknowledged and no reversal is owed. Source: docs/contract.md, section 12. */
export function settleWhenPaid(round: RoundState): RoundState {
  const owed = [...round.wins, ...round.reversals].some(({ state }) => state === 'OWED')
  return round.status === 'SETTLING' && !owed ? { ...round, status: 'SETTLED' } : round
}

export function withStake(round: RoundState, stake: Stake): RoundState {
  return { ...round, stakes: withPart(round.stakes, stake) }
}

function withWin(round: RoundState, win: Win): RoundState {
  return { ...round, wins: withPart(round.wins, win) }
}

function withPart<Part extends Stake | Win>(parts: readonly Part[], part: Part): Part[] {
  return parts.map((one) => (one.transactionId === part.transactionId ? part : one))
}

/** The end of a round with a win that a person has ended as failed. Source: docs/contract.md, section 4. */
export const winFailed = 'win_failed'

/**
 * Ends an owed credit: as paid, or as failed, which only a person does. The round is over then all the same;
 * its payout leaves a failed win out, its outcome and multiplier stay as drawn. A credit of zero is no win.
 */
export function endWin(round: RoundState, transactionId: string, state: 'PAID' | 'REVERSED'): Step {
  const win = round.wins.find((one) => one.transactionId === transactionId)
  if (win === undefined || win.state !== 'OWED') return 'unchanged'
  const ended = withWin(round, { ...win, state })
  if (state === 'PAID' || win.minor === 0n) return settleWhenPaid(ended)
  const payout = round.payout === null ? null : round.payout - win.minor
  return settleWhenPaid({ ...ended, payout, endReason: winFailed })
}

/** Completes a reversal that the wallet has acknowledged: the stake is back, or the win is gone. */
export function completeReversal(round: RoundState, transactionId: string): Step {
  const reversal = round.reversals.find((one) => one.transactionId === transactionId)
  if (reversal === undefined || reversal.state === 'DONE') return 'unchanged'
  const reference = reversal.referenceTransactionId
  const ended = { ...reversal, state: 'DONE' as const }
  const done = { ...round, reversals: round.reversals.map((one) => (one === reversal ? ended : one)) }
  const win = round.wins.find((one) => one.transactionId === reference)
  if (win !== undefined) return settleWhenPaid(withWin(done, { ...win, state: 'REVERSED' }))
  const stake = round.stakes.find((one) => one.transactionId === reference)
  if (stake === undefined) return settleWhenPaid(done)
  const reason = reversal.type === 'REFUND' ? 'refunded' : 'rolled_back'
  const returned = withStake(done, { ...stake, state: 'RETURNED' })
  return settleWhenPaid(endWhenNothingIsLeft(returned, reason))
}

/** Ends an owed reversal as failed, which only a person does; its stake or win stays as it was before. */
export function failReversal(round: RoundState, transactionId: string): Step {
  const reversal = round.reversals.find((one) => one.transactionId === transactionId)
  if (reversal === undefined || reversal.state !== 'OWED') return 'unchanged'
  return settleWhenPaid(releaseReversal(round, transactionId, 'FAILED'))
}

export function releaseReversal(round: RoundState, id: string, as: 'FAILED' | 'REMOVED'): RoundState {
  const reversal = round.reversals.find(({ transactionId }) => transactionId === id)
  if (reversal === undefined) return round
  const reference = reversal.referenceTransactionId
  const left = as === 'REMOVED' ? [] : [{ ...reversal, state: 'FAILED' as const }]
  return {
    ...round,
    reversals: round.reversals.flatMap((one) => (one === reversal ? left : [one])),
    stakes: round.stakes.map((one) =>
      one.transactionId === reference && one.state === 'RETURNING'
        ? { ...one, state: one.wasTaken ? 'TAKEN' : 'ASKED' }
        : one,
    ),
    wins: round.wins.map((one) =>
      one.transactionId === reference && one.state === 'REVERSING' ? { ...one, state: 'PAID' } : one,
    ),
  }
}
