import type { MovementOutcome } from '@pitboss/contracts/calls/wallet'
import type { MovementState } from './movement.ts'

/**
 * The outcome of a movement for its caller. A state always gives the same outcome. A movement whose first try
 * has no answer yet counts as WALLET_TIMEOUT. A stake that the wallet's tombstone ended is refused; one given
 * back otherwise is done.
 */
export function outcomeOf(
  state: Pick<MovementState, 'status' | 'type' | 'refusalCode' | 'pendingCode' | 'reversal'>,
): MovementOutcome {
  if (state.status === 'PENDING') {
    return {
      kind: 'pending',
      code: state.pendingCode ?? 'WALLET_TIMEOUT',
      rollbackOwed: state.type === 'BET' && state.reversal !== null,
    }
  }
  if (state.refusalCode !== null) return { kind: 'refused', code: state.refusalCode }
  return { kind: 'done' }
}

/** Tells whether a wallet has ever acknowledged the movement, whatever became of it since. */
export function wasAcknowledged(
  movement: Pick<MovementState, 'status'> & { readonly attempts: readonly { classification: string }[] },
): boolean {
  const { status, attempts } = movement
  if (status === 'SUCCESS' || status === 'REFUNDED') return true
  return attempts.some(({ classification }) => classification === 'SUCCESS')
}

/**
 * Tells whether a caller can be told how the movement stands: its first try has ended, or it will have none.
 */
export function hasAnswer(
  movement: Pick<MovementState, 'status' | 'type' | 'reversal'> & { readonly attempts: readonly unknown[] },
): boolean {
  if (movement.status !== 'PENDING' || movement.attempts.length > 0) return true
  return movement.type === 'BET' && movement.reversal !== null
}
