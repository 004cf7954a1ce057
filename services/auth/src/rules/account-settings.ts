import { invalidField } from '@pitboss/errors/service-error'
import { currencyDigits } from '@pitboss/money/currencies'

/** @throws ServiceError VALIDATION_ERROR at `currencies.<index>` for an unknown currency */
export function requireKnownCurrency(code: string, index: number): void {
  if (currencyDigits(code) === null) throw invalidField(`currencies.${index}`, 'is not a currency we know')
}

/** @throws ServiceError VALIDATION_ERROR at `currencies.<index>` for an unknown or repeated currency */
export function requireCurrencies(codes: readonly string[]): void {
  for (const [index, code] of codes.entries()) {
    requireKnownCurrency(code, index)
    if (codes.indexOf(code) !== index) throw invalidField(`currencies.${index}`, 'is there twice')
  }
}

/** @throws ServiceError VALIDATION_ERROR at `timezone` */
export function requireTimezone(text: string): void {
  if (!isTimezone(text)) throw invalidField('timezone', 'must be an IANA time zone such as "Europe/Malta"')
}

function isTimezone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone.length > 0
  } catch {
    return false
  }
}
