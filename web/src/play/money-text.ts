import { AmountError, formatAmount, parseAmount } from '@pitboss/money/amount'
import { moneyText, multiplierText } from '@pitboss/money/money-text'
import { type Rational, rational } from '@pitboss/money/rational'

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

/** "1.7120" as "1.71×": cut, for where there is little room. */
export function shortMultiplierText(multiplier: string): string {
  return multiplierText(multiplier.replace(/\d{2}$/, '00'))
}
