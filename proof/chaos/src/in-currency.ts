import { formatAmount, parseAmount } from '@pitboss/money/amount'

/** The minor units of coins for one cent. */
const smallUnits: Readonly<Record<string, bigint>> = { BTC: 100n, ETH: 10n ** 12n }

/**
 * An amount of a like size in another currency: a cent for each minor unit, of coins so many for each.
 * @param usd decimal string with two decimals
 */
export function inCurrency(usd: string, currency: string): string {
  const cents = parseAmount(usd, 'USD')
  return formatAmount(cents * (smallUnits[currency] ?? 1n), currency)
}
