/**
 * What an answer looks like, without its values: the kind of a leaf, the fields of an object, the items of a
 * list.
 */
export type Shape = string | { readonly [field: string]: Shape } | readonly Shape[]

/** The shape of a JSON value. A list has the shape of all its items together, or none when it is empty. */
export function shapeOf(value: unknown): Shape {
  if (value === null) return 'null'
  if (Array.isArray(value)) {
    const [first, ...rest] = value.map(shapeOf)
    return first === undefined ? [] : [rest.reduce(together, first)]
  }
  if (typeof value !== 'object') return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]))
}

/** Of a JSON Schema in an answer: they say what else a value may hold, and name no property of it. */
const openKeywords = ['propertyNames', 'additionalProperties']

/**
 * What clients of the recorded answers would miss in today's: fields that are gone and values of another
 * kind. A field more is none of it. A null tells nothing of the kind that a value would have.
 */
export function missedIn(recorded: Shape, today: Shape, path = ''): string[] {
  const there = `${path === '' ? 'the answer' : path}`
  if (typeof recorded === 'string' || typeof today === 'string') {
    const unknown = recorded === 'null' || today === 'null'
    return unknown || recorded === today ? [] : [`${there} was ${kindOf(recorded)} and is ${kindOf(today)}`]
  }
  if (isList(recorded) || isList(today)) {
    if (!isList(recorded) || !isList(today))
      return [`${there} was ${kindOf(recorded)} and is ${kindOf(today)}`]
    const [before] = recorded
    const [now] = today
    if (before === undefined) return []
    return now === undefined ? [`${there} has no item any more`] : missedIn(before, now, `${path}[]`)
  }
  return Object.entries(recorded).flatMap(([name, part]) => {
    if (openKeywords.includes(name)) return []
    const at = path === '' ? name : `${path}.${name}`
    const now = today[name]
    return now === undefined ? [`${at} is gone`] : missedIn(part, now, at)
  })
}

function together(one: Shape, other: Shape): Shape {
  if (one === 'null') return other
  if (other === 'null' || typeof one === 'string' || typeof other === 'string') return one
  if (isList(one) || isList(other)) {
    if (!isList(one) || !isList(other)) return one
    const items = [...one, ...other]
    const [first, ...rest] = items
    return first === undefined ? [] : [rest.reduce(together, first)]
  }
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries(
    [...names].map((name) => [name, together(one[name] ?? 'null', other[name] ?? 'null')]),
  )
}

function isList(shape: Shape): shape is readonly Shape[] {
  return Array.isArray(shape)
}

function kindOf(shape: Shape): string {
  return typeof shape === 'string' ? shape : isList(shape) ? 'a list' : 'an object'
}
