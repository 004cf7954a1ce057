const SHOWN_CHARACTERS_MAX = 200
const SHOWN_ITEMS_MAX = 30

/** One line of a verification; `expected` and `actual` are texts for people, whatever the values are. */
export type Check = {
  readonly name: string
  readonly ok: boolean
  readonly expected: string
  readonly actual: string
}

/** A check that passes when both values are the same (type, order and content). Never throws. */
export function compare(name: string, expected: unknown, actual: unknown): Check {
  return { name, ok: sameValue(expected, actual), expected: show(expected), actual: show(actual) }
}

/** A check that failed because the value has not the wanted form. */
export function failure(name: string, expected: string, actual: unknown): Check {
  return { name, ok: false, expected, actual: show(actual) }
}

/** A bounded text for any value; objects are not looked into. Never throws. */
export function show(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'string') return value.slice(0, SHOWN_CHARACTERS_MAX)
  if (Array.isArray(value)) {
    const items = value
      .slice(0, SHOWN_ITEMS_MAX)
      .map((item) => (Array.isArray(item) ? 'an array' : show(item)))
    return `[${items.join(', ')}${value.length > SHOWN_ITEMS_MAX ? ', …' : ''}]`
  }
  if (typeof value === 'object') return value === null ? 'null' : 'an object'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value
}

function sameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => item === b[index])
  }
  return a === b
}
