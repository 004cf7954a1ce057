/**
 * A value of a public record in words, a line each: limits as "EUR: min stake 0.10, max stake 100.00", a
 * switch as yes or no.
 */
export function wordsOf(value: unknown): readonly string[] {
  if (value === undefined) return ['–']
  if (Array.isArray(value)) return value.length === 0 ? ['none'] : value.map(lineOf)
  return [lineOf(value)]
}

function lineOf(value: unknown): string {
  if (value === null) return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(lineOf).join(', ')
  if (typeof value !== 'object') return '–'
  const entries = Object.entries(value)
  const subject = entries.find(([name]) => name === 'currency')
  const rest = entries
    .filter((entry) => entry !== subject)
    .map(([name, one]) => `${name.replaceAll('_', ' ')} ${lineOf(one)}`)
    .join(', ')
  return subject === undefined ? rest : `${lineOf(subject[1])}: ${rest}`
}
