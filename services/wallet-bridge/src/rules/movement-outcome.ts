import type { MovementState, PendingCode, RefusalCode } from './movement.ts'

/** How a movement stands for its caller. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  | { readonly kind: 'pending'; readonly code: PendingCode; readonly rollbackOwed: boolean }

/**
 * The same state gives the same answer for ever. A movement whose first try has no answer yet counts as WALLET_TIMEOUT.
 * A refused stake that ended ROLLED_BACK by the wallet's tombstone is refused; one given back otherwise is done.
 */
export function outcomeOf(
  state: Pick<MovementState, 'status' | 'type' | 'refusalCode' | 'pendingCode' | 'reversal'>,
): Outcome {
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
