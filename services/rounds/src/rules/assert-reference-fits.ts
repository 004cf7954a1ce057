import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { RoundState } from './round.ts'
import { readAmount } from './read-amount.ts'

type ReversalBody = Extract<TransactionBody, { type: 'REFUND' | 'ROLLBACK' }>

/**
 * Refuses a reversal that names other money than its original.
 * @throws ServiceError VALIDATION_ERROR for another amount, CURRENCY_MISMATCH for another currency
 */
export function assertReferenceFits(round: RoundState, body: ReversalBody): void {
  const reference = [...round.stakes, ...round.wins].find(
    ({ transactionId }) => transactionId === body.reference_transaction_id,
  )
  if (reference === undefined) {
    throw invalidField('reference_transaction_id', 'is itself a refund or a rollback')
  }
  if (body.currency !== undefined && body.currency !== round.currency) {
    throw new ServiceError('CURRENCY_MISMATCH')
  }
  if (body.amount === undefined) return
  if (readAmount(body.amount, round.currency, 'amount') !== reference.minor) {
    throw invalidField('amount', 'must be the amount of the original movement')
  }
}
