import { hashBody } from '@pitboss/contracts/json'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { AmountError, parseAmount } from '@pitboss/money/amount'
import type { RoundState } from './round.ts'

type MeaningContext = Pick<RoundState, 'currency'> & Partial<Pick<RoundState, 'stakes' | 'wins'>>

/**
 * The hash of a request for a movement by its meaning. Two bodies that ask for the same have the same hash,
 * however they are written: "10.5" and "10.50", fields in another order, a default given or left out, a
 * reversal's amount spelled out or not. Source: docs/contract.md, section 5.
 */
export function transactionHash(body: TransactionBody, round: MeaningContext): string {
  if (body.type === 'BET' || body.type === 'WIN') {
    return hashBody({ ...body, amount: meaningOf(body.amount, round.currency) })
  }
  const { amount, currency = round.currency, ...rest } = body
  const original = [...(round.stakes ?? []), ...(round.wins ?? [])].find(
    ({ transactionId }) => transactionId === body.reference_transaction_id,
  )
  const whole = original === undefined ? null : String(original.minor)
  return hashBody({ ...rest, currency, amount: amount === undefined ? whole : meaningOf(amount, currency) })
}

function meaningOf(amount: string, currency: string): string {
  try {
    return String(parseAmount(amount, currency))
  } catch (error) {
    // This text is no amount of the currency, so the body is another than one that was accepted.
    if (error instanceof AmountError) return `as written: ${amount}`
    throw error
  }
}
