import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { parseAmount } from '@pitboss/money/amount'
import { AmountError } from '@pitboss/money/amount'
import { hashBody } from '@pitboss/storage/idempotency-keys'

/**
 * What a request for a movement means: equal for two bodies that ask for the same, however they are written ("10.5" and "10.50",
 * fields in another order, a default given or left out). Contract section 5.
 */
export function transactionHash(body: TransactionBody, currency: string): string {
  const { amount, ...rest } = body
  return hashBody({ ...rest, amount: amount === undefined ? null : meaningOf(amount, currency) })
}

function meaningOf(amount: string, currency: string): string {
  try {
    return String(parseAmount(amount, currency))
  } catch (error) {
    // Not an amount of this currency, so certainly another body than one that was accepted.
    if (error instanceof AmountError) return `as written: ${amount}`
    throw error
  }
}
