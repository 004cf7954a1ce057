import type { MovementOutcome } from '@pitboss/contracts/calls/wallet'
import type { Movement } from '@pitboss/contracts/objects/movement'
import type { RoundMessage } from './round-message.ts'

/** What a round is told about one of its movements; null while nothing is certain. */
export function movementMessage(movement: Movement, outcome: MovementOutcome): RoundMessage | null {
  const { transaction_id: transactionId, type, status } = movement
  if (status === 'PENDING') return null
  const refusal = outcome.kind === 'refused' ? outcome.code : null
  switch (type) {
    case 'BET':
      if (status === 'SUCCESS') return { type: 'stake-taken', transactionId }
      if (status === 'FAILED') {
        return { type: 'stake-refused', transactionId, code: refusal ?? 'WALLET_REJECTED' }
      }
      return { type: 'stake-returned', transactionId, refusal }
    case 'WIN':
      return { type: status === 'FAILED' ? 'win-failed' : 'win-paid', transactionId }
    case 'REFUND':
    case 'ROLLBACK':
      return { type: status === 'FAILED' ? 'reversal-failed' : 'reversal-done', transactionId }
  }
}
