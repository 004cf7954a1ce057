/** "1234.50" and "USD" as "1,234.50 USD". */
export function moneyText(amount: string, currency: string): string {
  const [whole = '', decimals] = amount.split('.')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  return `${decimals === undefined ? grouped : `${grouped}.${decimals}`} ${currency}`
}

/** "1.9800" as "1.98×", "1.7120" as it is. */
export function multiplierText(multiplier: string): string {
  const [whole = '', decimals = ''] = multiplier.split('.')
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')}.${decimals.replace(/00$/, '')}×`
}
