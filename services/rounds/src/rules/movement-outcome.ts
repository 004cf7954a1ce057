import type { MovementOutcome } from '@pitboss/contracts/calls/wallet'
import type { Movement } from '@pitboss/contracts/objects/movement'
import { ServiceError } from '@pitboss/errors/service-error'
import type { RoundMessage } from './round-message.ts'

/**
 * The movement that a caller can look at, or void, while its outcome is unknown.
 * Source: docs/contract.md, section 11.
 */
export function resourceOf(round: { readonly id: string }, transactionId: string) {
  return { round_id: round.id, transaction_id: transactionId }
}

type Resource = ReturnType<typeof resourceOf>

/** The error for a movement that may have been written: its answer got lost. */
export function unknownOutcome(resource: Resource, cause?: ServiceError): ServiceError {
  return new ServiceError('WALLET_TIMEOUT', { resource, cause })
}

/** @throws ServiceError WALLET_TIMEOUT or WALLET_UNAVAILABLE with `resource` while the outcome is unknown */
export function assertCertain(outcome: MovementOutcome, resource: Resource): void {
  if (outcome.kind === 'pending') throw new ServiceError(outcome.code, { resource })
}

/** As `assertCertain`. @throws ServiceError the wallet's refusal, too */
export function assertDone(outcome: MovementOutcome, resource: Resource): void {
  assertCertain(outcome, resource)
  if (outcome.kind === 'refused') throw new ServiceError(outcome.code)
}

/** The message for a round about one of its movements; null while nothing is certain. */
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
