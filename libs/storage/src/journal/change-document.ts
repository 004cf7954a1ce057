export type Fields = Readonly<Record<string, unknown>>

/** What an entry changes of a document: fields set whole, fields removed, items appended to lists. */
export type DocumentChange = {
  readonly set?: Fields
  readonly unset?: readonly string[]
  readonly push?: Readonly<Record<string, readonly unknown[]>>
}

/** Of a list that is bounded: how many of its last items are retained. */
export type Keep = Readonly<Record<string, number>>

/**
 * Finds the change that makes a document with the fields `before` one with the fields `after`. A list that
 * has only grown at its end, and lost at its beginning what `keep` says, is appended to; any other field is
 * set whole. An undefined field is one that is absent, and the order of an object's fields does not count.
 * Values of other kinds than plain data and dates count as different. Source: ours.
 * @throws RangeError for a changed field whose name is a path or an operator to the database
 */
export function changeBetween(before: Fields, after: Fields, keep: Keep = {}): DocumentChange {
  const set: [string, unknown][] = []
  const push: [string, readonly unknown[]][] = []
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined || (Object.hasOwn(before, name) && isSame(before[name], value))) continue
    const items = appendedItems(before[name], value, keep[name])
    if (items === null) set.push([plainName(name), value])
    else push.push([plainName(name), items])
  }
  const isGone = (name: string) => !Object.hasOwn(after, name) || after[name] === undefined
  const unset = Object.keys(before)
    .filter((name) => before[name] !== undefined && isGone(name))
    .map(plainName)
  return {
    ...(set.length === 0 ? {} : { set: Object.fromEntries(set) }),
    ...(unset.length === 0 ? {} : { unset }),
    ...(push.length === 0 ? {} : { push: Object.fromEntries(push) }),
  }
}

/**
 * Applies a change to the fields of a document. Source: ours.
 * @param keep as `changeBetween` had it
 * @throws TypeError when items are appended to what is no list
 */
export function changeDocument(
  before: Fields,
  { set, unset = [], push = {} }: DocumentChange,
  keep: Keep = {},
): Fields {
  const after: Record<string, unknown> = { ...before, ...set }
  for (const name of unset) delete after[name]
  for (const [name, items] of Object.entries(push)) {
    const list = after[name] ?? []
    if (!Array.isArray(list)) throw new TypeError(`${name} is no list`)
    const most = keep[name]
    const longer = [...list, ...items]
    after[name] = most === undefined ? longer : longer.slice(Math.max(0, longer.length - most))
  }
  return after
}

/** The items that make the list `before` the list `after` when they are appended; null when none do. */
function appendedItems(
  before: unknown,
  after: unknown,
  most = Number.POSITIVE_INFINITY,
): readonly unknown[] | null {
  if (!Array.isArray(before) || !Array.isArray(after) || after.length > most) return null
  const dropsMax = after.length === most ? before.length : 0
  for (let drops = 0; drops <= dropsMax; drops++) {
    const kept = before.slice(drops)
    const isBeginning = kept.length < after.length && kept.every((item, index) => isSame(item, after[index]))
    if (isBeginning) return after.slice(kept.length)
  }
  return null
}

function plainName(name: string): string {
  if (name === '' || name.includes('.') || name.startsWith('$'))
    throw new RangeError(`a field must not be named "${name}"`)
  return name
}

/** Whether two values are the same to the database. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime())
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, index) => isSame(one, b[index]))
  if (!isPlain(a) || !isPlain(b)) return false
  const names = namesOf(a)
  return names.length === namesOf(b).length && names.every((name) => isSame(a[name], b[name]))
}

function isPlain(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function namesOf(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => fields[name] !== undefined)
}
