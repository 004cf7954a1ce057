import type { CertainMovement } from '@pitboss/contracts/calls/wallet-ops'
import { reversalOrder, stakeSpec, winSpec } from './movement.ts'
import type { RoundState } from './round.ts'

/**
 * The movements of a round that have ended for certain, originals first. Left out are stakes that nobody
 * knows to be taken, credits that are owed, and stakes that the service took back by itself: nothing of them
 * stands. Source: docs/runbook.md, "A restored backup".
 */
export function certainMovements(round: RoundState): CertainMovement[] {
  const { stakes, wins, reversals } = round
  const isReversed = (id: string) =>
    reversals.some(({ referenceTransactionId }) => referenceTransactionId === id)
  return [
    ...stakes.flatMap((stake): CertainMovement[] => {
      const spec = stakeSpec(round, stake)
      if (stake.state === 'REFUSED') return [{ spec, end: 'FAILED', code: stake.refusal }]
      const isKnown = stake.wasTaken && (stake.state !== 'RETURNED' || isReversed(stake.transactionId))
      return isKnown ? [{ spec, end: 'SUCCESS', code: null }] : []
    }),
    ...wins.flatMap((win): CertainMovement[] => {
      if (win.state === 'OWED') return []
      const isFailed = win.state === 'REVERSED' && !isReversed(win.transactionId)
      return [{ spec: winSpec(round, win), end: isFailed ? 'FAILED' : 'SUCCESS', code: null }]
    }),
    ...reversals.flatMap((reversal): CertainMovement[] => {
      if (reversal.state === 'OWED') return []
      const end = reversal.state === 'DONE' ? 'SUCCESS' : 'FAILED'
      return [{ spec: reversalOrder(round, reversal).spec, end, code: null }]
    }),
  ]
}
