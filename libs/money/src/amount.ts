import { currencyDigits } from './currencies.ts'

const AMOUNT_PATTERN = /^(0|[1-9][0-9]{0,14})(\.[0-9]{1,18})?$/
const wholeDigitsMax = 15
const BALANCE_PATTERN = /^-?[0-9]{1,30}(\.[0-9]{1,30})?$/

/** Reason why a value is no amount. */
export type AmountErrorReason = 'NOT_A_STRING' | 'NOT_A_DECIMAL' | 'TOO_MANY_DECIMALS' | 'UNKNOWN_CURRENCY'

/** Thrown for what is no amount; `message` is fit for the `details` of a VALIDATION_ERROR. */
export class AmountError extends Error {
  readonly reason: AmountErrorReason

  constructor(reason: AmountErrorReason, message: string) {
    super(message)
    this.name = 'AmountError'
    this.reason = reason
  }
}

/**
 * Minor units of a decimal string such as "10.5" (USD: 1050n). Source: docs/contract.md, section 1.
 * @throws AmountError for a non-string, a sign, an exponent, spaces, leading zeros, more than 15 digits
 * before the point, more decimals than the currency has (trailing zeros count), and for a code that is no
 * currency.
 */
export function parseAmount(value: unknown, currency: string): bigint {
  if (typeof value !== 'string') {
    throw new AmountError(
      'NOT_A_STRING',
      'must be a decimal string such as "10.00", not a JSON number or another type',
    )
  }
  const digits = digitsOf(currency)
  if (!AMOUNT_PATTERN.test(value)) {
    throw new AmountError(
      'NOT_A_DECIMAL',
      'must be a decimal string such as "10.00", without sign, exponent, spaces or leading zeros',
    )
  }
  const [whole = '', decimals = ''] = value.split('.')
  if (decimals.length > digits) {
    throw new AmountError('TOO_MANY_DECIMALS', `must have at most ${digits} decimals in ${currency}`)
  }
  return BigInt(whole + decimals.padEnd(digits, '0'))
}

/** Whether a sum has at most 15 digits before the point. @throws AmountError with UNKNOWN_CURRENCY. */
export function isAmount(minor: bigint, currency: string): boolean {
  return minor >= 0n && minor < 10n ** BigInt(wholeDigitsMax + digitsOf(currency))
}

/**
 * Minor units of a wallet's balance: it may be below zero and larger than any amount, and decimals beyond
 * those of the currency are cut. Null for any text but a decimal string of at most 30 digits on either side.
 * @throws AmountError with UNKNOWN_CURRENCY.
 */
export function readBalance(value: unknown, currency: string): bigint | null {
  const digits = digitsOf(currency)
  if (typeof value !== 'string' || !BALANCE_PATTERN.test(value)) return null
  const [whole = '', decimals = ''] = value.replace('-', '').split('.')
  const minor = BigInt(whole + decimals.slice(0, digits).padEnd(digits, '0'))
  return value.startsWith('-') ? -minor : minor
}

/**
 * The decimal string of minor units with all decimals of the currency: 1000n USD is "10.00", 100n JPY is
 * "100". Negative sums (reports and balances may have them) get a leading "-".
 * @throws AmountError with UNKNOWN_CURRENCY.
 */
export function formatAmount(minor: bigint, currency: string): string {
  const digits = digitsOf(currency)
  const sign = minor < 0n ? '-' : ''
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0')
  if (digits === 0) return sign + text
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

function digitsOf(currency: string): number {
  const digits = currencyDigits(currency)
  if (digits === null) throw new AmountError('UNKNOWN_CURRENCY', 'is not a known currency code')
  return digits
}
