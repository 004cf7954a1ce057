import type { Step } from './round-message.ts'
import { endWhenNothingIsLeft, settleWhenPaid, withStake, withWin } from './round-parts.ts'
import type { RoundState } from './round.ts'

/** Completes a reversal that the wallet has acknowledged: the stake is back, or the win is gone. */
export function completeReversal(round: RoundState, transactionId: string): Step {
  const reversal = round.reversals.find((one) => one.transactionId === transactionId)
  if (reversal === undefined || reversal.state === 'DONE') return 'unchanged'
  const reference = reversal.referenceTransactionId
  const reversals = round.reversals.map((one) =>
    one === reversal ? { ...reversal, state: 'DONE' as const } : one,
  )
  const done = { ...round, reversals }
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

/** Undoes the effect of an intended reversal on its stake or win. */
export function releaseReversal(
  round: RoundState,
  transactionId: string,
  as: 'FAILED' | 'REMOVED',
): RoundState {
  const reversal = round.reversals.find((one) => one.transactionId === transactionId)
  if (reversal === undefined) return round
  const reference = reversal.referenceTransactionId
  return {
    ...round,
    reversals:
      as === 'REMOVED'
        ? round.reversals.filter((one) => one !== reversal)
        : round.reversals.map((one) => (one === reversal ? { ...reversal, state: 'FAILED' as const } : one)),
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
