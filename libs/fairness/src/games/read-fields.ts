import type { BetIssue } from './game.ts'

/** The own fields of a plain JSON object, or null for anything else. */
export function readObject(value: unknown): ReadonlyMap<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return new Map(Object.entries(value))
}

/** One issue per missing or unknown field of a bet; null when it is no object at all. */
export function fieldIssues(fields: ReadonlyMap<string, unknown>, names: readonly string[]): BetIssue[] {
  const missing = names.filter((name) => fields.get(name) === undefined)
  const unknown = [...fields.keys()].filter((name) => !names.includes(name))
  return [
    ...missing.map((name) => ({ path: `bet.${name}`, message: 'is required' })),
    ...unknown.map((name) => ({ path: `bet.${name}`, message: 'is not a field of this bet' })),
  ]
}

/** True for a safe integer from min to max. */
export function isIntegerWithin(value: unknown, min: number, max: number): value is number {
  return Number.isSafeInteger(value) && typeof value === 'number' && value >= min && value <= max
}

/** `isAction` of one-shot games: nothing is an action. */
export function isNoAction(_value: unknown): _value is number {
  return false
}
