import { randomBytes } from 'node:crypto'
import { idOf } from '@pitboss/runtime/new-id'
import type { Document } from 'mongodb'

const millisecondBytes = 6
const uuidBytes = 16
const instantPattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
const noncePattern = /"nonce":\d+/g

/** What a copy has of its own. */
export type Copied = {
  /** New names by those of the original; each is long enough to mean nothing else. */
  readonly names: ReadonlyMap<string, string>
  /** Milliseconds by which every time of the copy is another one. */
  readonly shiftMs: number
  readonly nonce: number
}

/** An id as the product makes them at that time. `atMs` is milliseconds since 1970. */
export function idAt(prefix: string, atMs: number): string {
  const bytes = randomBytes(uuidBytes)
  bytes.writeUIntBE(atMs, 0, millisecondBytes)
  return idOf(prefix, bytes)
}

/** The document with other names, other times and another nonce, in its fields and in texts alike. */
export function copyDocument<Stored extends Document>(document: Stored, copied: Copied): Stored {
  const { names, shiftMs, nonce } = copied
  const pattern = new RegExp([...names.keys()].join('|'), 'g')
  const later = (text: string) => new Date(Date.parse(text) + shiftMs).toISOString()
  function copy(value: unknown, name: string): unknown {
    if (typeof value === 'string')
      return value
        .replace(pattern, (found) => names.get(found) ?? found)
        .replace(instantPattern, later)
        .replace(noncePattern, `"nonce":${nonce}`)
    if (value instanceof Date) {
      // Times without a meaning, as "never", stay what they are.
      const isMeant = value.getUTCFullYear() > 2000 && value.getUTCFullYear() < 3000
      return isMeant ? new Date(value.getTime() + shiftMs) : value
    }
    if (name === 'nonce') return typeof value === 'bigint' ? BigInt(nonce) : nonce
    if (Array.isArray(value)) return value.map((one) => copy(one, ''))
    if (isPlain(value))
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copy(one, key)]))
    return value
  }
  // Safe: a copy has the fields of its original, and each value the type of that.
  return copy(document, '') as Stored
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
