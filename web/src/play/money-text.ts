import { AmountError, formatAmount, parseAmount } from '@pitboss/money/amount'
import { type Rational, rational } from '@pitboss/money/rational'

/** "1234.50" and "USD" as "1,234.50 USD". */
export function moneyText(amount: string, currency: string): string {
  const [whole = '', decimals] = amount.split('.')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  return `${decimals === undefined ? grouped : `${grouped}.${decimals}`} ${currency}`
}

/** Minor units as text for people. */
export function minorText(minor: bigint, currency: string): string {
  return moneyText(formatAmount(minor, currency), currency)
}

/** Minor units of what a person typed, or null when it is no amount of this currency. */
export function readMinor(text: string, currency: string): bigint | null {
  try {
    return parseAmount(text.trim().replace(',', '.'), currency)
  } catch (error) {
    if (error instanceof AmountError) return null
    throw error
  }
}

/** A decimal such as "0.9900" as an exact fraction. */
export function readDecimal(text: string): Rational {
  const [whole = '0', decimals = ''] = text.split('.')
  return rational(BigInt(whole + decimals), 10n ** BigInt(decimals.length))
}

/** "1.9800" as "1.98×", "1.7120" as it is. */
export function multiplierText(multiplier: string): string {
  const [whole = '', decimals = ''] = multiplier.split('.')
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')}.${decimals.replace(/00$/, '')}×`
}

/** "1.7120" as "1.71×": cut, for where there is little room. */
export function shortMultiplierText(multiplier: string): string {
  return multiplierText(multiplier.replace(/\d{2}$/, '00'))
}
