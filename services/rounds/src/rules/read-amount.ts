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

/**
 * Judges an amount by the currency that stands beside it in a body, to be asked before anything is looked up;
 * without a known currency there is nothing to judge by.
 * @throws ServiceError VALIDATION_ERROR at `path`. Source: contract section 12.
 */
export function judgeAmount(text: string | undefined, currency: string | undefined, path: string): void {
  if (text === undefined || currency === undefined || currencyDigits(currency) === null) return
  readAmount(text, currency, path)
}

/** @throws ServiceError CURRENCY_NOT_SUPPORTED for a code that is no currency or not enabled on the account. */
export function assertCurrency(currency: string, account: { readonly currencies: readonly string[] }): void {
  if (currencyDigits(currency) === null || !account.currencies.includes(currency)) {
    throw new ServiceError('CURRENCY_NOT_SUPPORTED')
  }
}
