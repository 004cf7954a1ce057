import type { z } from 'zod'

/** What a value must be, by the type that a schema expects. */
const types: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}
/** What a bound counts, by the type that has it; a number counts nothing. */
const counted: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'entry',
  record: 'field',
  object: 'field',
}

/** Said of a value that is missing. */
export const required = 'is required'
/** Said of a cursor that is none of this list. */
export const notACursor =
  'is damaged, or belongs to another list or to other filters: take next_cursor of the last page as it is, or begin without one'

/**
 * Says in words what a value must be, for a finding of zod whose schema has no message of its own: "must have
 * at most 64 characters". Undefined leaves zod's own message. Source: ours.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return required
      const type = types[issue.expected]
      return type === undefined ? undefined : `must be ${type}`
    }
    case 'invalid_value':
      return issue.input === undefined ? required : oneOf(issue.values)
    case 'too_small':
      return isOne(issue.minimum) && issue.origin in counted
        ? 'must not be empty'
        : bound(issue.origin, 'at least', issue.minimum)
    case 'too_big':
      return bound(issue.origin, 'at most', issue.maximum)
    case 'invalid_format':
      return 'prefix' in issue ? `must begin with "${String(issue.prefix)}"` : undefined
    case 'unrecognized_keys':
      return unknownFields(issue)
    case 'invalid_key':
      return 'is not a name that a field may have'
    default:
      return undefined
  }
}

/** As many unknown fields of an object are looked at; an answer shows no more. */
const unknownMax = 50

/** A line for each unknown field, since zod has one message for all of an object. */
function unknownFields({ inst, keys }: z.core.$ZodRawIssue<z.core.$ZodIssueUnrecognizedKeys>): string {
  const { def } = inst?._zod ?? {}
  const shape = def !== undefined && 'shape' in def ? def.shape : null
  const known = typeof shape === 'object' && shape !== null ? Object.keys(shape) : []
  return keys
    .slice(0, unknownMax)
    .map((key) => unknownField(key, known))
    .join('\n')
}

/** Names the fields that the object has instead, first the one that is meant, if one is. */
function unknownField(given: string, known: readonly string[]): string {
  if (known.length === 0) return 'is not a known field'
  const meant = meantOf(given, known)
  const all = `there are ${known.join(', ')}`
  return `is not a known field: ${meant === undefined ? all : `did you mean ${meant}? ${all}`}`
}

/** The field that is only spelt otherwise (`roundId`), else the only one that begins so (`player`). */
function meantOf(given: string, known: readonly string[]): string | undefined {
  const letters = lettersOf(given)
  const begun = letters === '' ? [] : known.filter((name) => lettersOf(name).startsWith(letters))
  return begun.find((name) => lettersOf(name) === letters) ?? (begun.length === 1 ? begun[0] : undefined)
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** Names the values that are allowed. */
export function oneOf(values: readonly unknown[]): string {
  return `must be ${values.length === 1 ? '' : 'one of '}${values.map(String).join(', ')}`
}

function bound(origin: string, limit: string, value: number | bigint): string {
  const unit = counted[origin]
  if (unit === undefined) return `must be ${limit} ${value}`
  return `must have ${limit} ${value} ${isOne(value) ? unit : plural(unit)}`
}

function plural(unit: string): string {
  return unit.endsWith('y') ? `${unit.slice(0, -1)}ies` : `${unit}s`
}

function isOne(value: number | bigint): boolean {
  return value === 1 || value === 1n
}
