import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { AmountError, parseAmount } from '@pitboss/money/amount'
import { currencyDigits } from '@pitboss/money/currencies'

/** Minor units of an amount in a request. @throws ServiceError VALIDATION_ERROR at `path`. */
export function readAmount(text: string, currency: string, path: string): bigint {
  try {
    return parseAmount(text, currency)
  } catch (error) {
    if (error instanceof AmountError) throw invalidField(path, error.message)
    throw error
  }
}

/** @throws ServiceError CURRENCY_NOT_SUPPORTED for a code that is no currency or not enabled on the account. */
export function assertCurrency(currency: string, account: { readonly currencies: readonly string[] }): void {
  if (currencyDigits(currency) === null || !account.currencies.includes(currency)) {
    throw new ServiceError('CURRENCY_NOT_SUPPORTED')
  }
}
