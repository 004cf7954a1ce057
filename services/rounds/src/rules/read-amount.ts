import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { AmountError, parseAmount } from '@pitboss/money/amount'
import { currencyDigits } from '@pitboss/money/currencies'

/**
 * Reads an amount of a request, in minor units.
 * @throws ServiceError VALIDATION_ERROR at `path`
 */
export function readAmount(text: string, currency: string, path: string): bigint {
  try {
    return parseAmount(text, currency)
  } catch (error) {
    if (error instanceof AmountError) throw invalidField(path, error.message)
    throw error
  }
}

/**
 * Judges an amount by the currency beside it in a body, before anything is looked up. Without a known
 * currency it accepts every amount. Source: docs/contract.md, section 12.
 * @throws ServiceError VALIDATION_ERROR at `path`
 */
export function judgeAmount(text: string | undefined, currency: string | undefined, path: string): void {
  if (text === undefined || currency === undefined || currencyDigits(currency) === null) return
  readAmount(text, currency, path)
}

/**
 * Refuses a currency that the account does not have.
 * @throws ServiceError CURRENCY_NOT_SUPPORTED, for a code that is no currency, too
 */
export function assertCurrency(currency: string, account: { readonly currencies: readonly string[] }): void {
  if (currencyDigits(currency) === null || !account.currencies.includes(currency)) {
    throw new ServiceError('CURRENCY_NOT_SUPPORTED')
  }
}
