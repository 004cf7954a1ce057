import { formatAmount, parseAmount } from '@pitboss/money/amount'

/** Satoshi, or the like, for one cent. */
const smallUnits = 100n

/**
 * An amount of a like size in another currency: a cent for each minor unit, of coins a hundred.
 * @param usd decimal string with two decimals
 */
export function inCurrency(usd: string, currency: string): string {
  const cents = parseAmount(usd, 'USD')
  return formatAmount(currency === 'BTC' ? cents * smallUnits : cents, currency)
}
