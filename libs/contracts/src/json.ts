import { createHash } from 'node:crypto'

export type JsonObject = Readonly<Record<string, unknown>>

/** A JSON object in UTF-8 whose own members are each there once; null for anything else. Never throws. */
export function parseJsonObject(bytes: Uint8Array): JsonObject | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const value: unknown = JSON.parse(text)
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
    const entries = Object.entries(value)
    return entries.length === countMembers(text) ? Object.fromEntries(entries) : null
  } catch {
    return null
  }
}

/**
 * The digits of a number that a JSON object has under `name`, as they were written: an id may be longer than
 * a number is exact. Null where it is no number.
 * @param bytes of an object that `parseJsonObject` has read
 */
export function digitsOf(bytes: Uint8Array, name: string): string | null {
  const found = new Map<unknown, string>()
  const root: unknown = JSON.parse(
    new TextDecoder().decode(bytes),
    function keep(this: unknown, key: string, value: unknown, ...[context]: { source?: string }[]) {
      const source = context?.source
      if (key === name && typeof value === 'number' && source !== undefined) found.set(this, source)
      return value
    },
  )
  return found.get(root) ?? null
}

/** Members at the top level of a JSON object's text, doubles included, which nobody can read. */
function countMembers(text: string): number {
  let depth = 0
  let members = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') at = endOfString(text, at)
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    else if (character === ':' && depth === 1) members += 1
  }
  return members
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1
  return at
}

/** JSON with sorted keys and no undefined fields: equal values, equal text. @throws TypeError for a bigint */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) => {
    if (field === null || typeof field !== 'object' || Array.isArray(field)) return field
    return Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** SHA-256 of a parsed body in hex, in any order of its fields. @throws TypeError for a bigint */
export function hashBody(body: unknown): string {
  return createHash('sha256').update(canonicalJson(body)).digest('hex')
}
