import type { MovementState } from './movement.ts'

export type StakeStanding = Pick<MovementState, 'status' | 'reversal'>

/**
 * Why a win must not be sent: no stake of its round is taken; null when it may be. Without any stake of the
 * round this database has lost them, and the win is sent. Source: docs/contract.md, section 12.
 */
export function winRefusal(
  stakes: readonly StakeStanding[],
  { roundClosed }: { readonly roundClosed: boolean },
): 'ROUND_IN_PROGRESS' | 'ROUND_ALREADY_SETTLED' | null {
  const isPending = stakes.some(({ status }) => status === 'PENDING')
  if (roundClosed && isPending) return 'ROUND_IN_PROGRESS'
  const isTaken = stakes.some(({ status, reversal }) => status === 'SUCCESS' && reversal === null)
  if (isTaken || stakes.length === 0) return null
  const isReturning = stakes.some(({ status }) => status === 'SUCCESS')
  return isPending || isReturning ? 'ROUND_IN_PROGRESS' : 'ROUND_ALREADY_SETTLED'
}
