import { data } from 'currency-codes'

const currencyMinorUnits: ReadonlyMap<string, number> = new Map([
  ...data.filter(({ code }) => !isWithoutMinorUnit(code)).map(({ code, digits }) => [code, digits] as const),
  ['XCG', 2],
  ['BTC', 8],
  ['ETH', 18],
  ['LTC', 8],
  ['USDT', 6],
  ['USDC', 6],
  ['FUN', 2],
])

/**
 * Decimals of a currency, from ISO 4217 plus the five coins and the play money of docs/contract.md, section
 * 1. Codes are upper case and compared exactly. ISO entries whose minor unit is "N.A." (metals, bond units,
 * XDR, XTS, XXX …) are not money here. XCG joined ISO 4217 in 2025, after the list that the package
 * carries.
 * @returns 0 to 18, or null for a code that is no currency. Never throws.
 */
export function currencyDigits(code: string): number | null {
  return currencyMinorUnits.get(code) ?? null
}

/** Every currency code that amounts can have, sorted. */
export function currencyCodes(): string[] {
  return [...currencyMinorUnits.keys()].sort()
}

// The package gives these 0 digits although ISO 4217 says "N.A."; the list holds for the 2024-06-25 edition.
function isWithoutMinorUnit(code: string): boolean {
  return /^(XAG|XAU|XB[A-D]|XDR|XPD|XPT|XSU|XTS|XUA|XXX)$/.test(code)
}
