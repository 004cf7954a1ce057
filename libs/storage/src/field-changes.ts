import { isSame } from './journal/change-document.ts'

type Fields = Readonly<Record<string, unknown>>

/** The parts of an update that write changes of fields; a part without fields is left out. */
export type FieldChanges = {
  readonly $set?: Record<string, unknown>
  readonly $unset?: Record<string, ''>
}

/**
 * The update that makes a document with the fields `before` one with the fields `after`: it sets those that
 * are new or differ, whole, and removes those that `after` lacks. An undefined field is one that is not
 * there, and the order of an object's fields does not count. Values of other kinds than plain data and dates
 * count as different, since a needless write is harmless and a missing one is not. Source: ours.
 * @throws RangeError for a changed field whose name is a path or an operator to the database
 */
export function fieldChanges(before: Fields, after: Fields): FieldChanges {
  const set: [string, unknown][] = []
  const unset: [string, ''][] = []
  for (const [name, value] of Object.entries(after)) {
    if (value !== undefined && !(Object.hasOwn(before, name) && isSame(before[name], value)))
      set.push([plain(name), value])
  }
  for (const [name, value] of Object.entries(before)) {
    const isGone = !Object.hasOwn(after, name) || after[name] === undefined
    if (value !== undefined && isGone) unset.push([plain(name), ''])
  }
  return {
    ...(set.length === 0 ? {} : { $set: Object.fromEntries(set) }),
    ...(unset.length === 0 ? {} : { $unset: Object.fromEntries(unset) }),
  }
}

function plain(name: string): string {
  if (name === '' || name.includes('.') || name.startsWith('$'))
    throw new RangeError(`a field must not be named "${name}"`)
  return name
}
