import { randomInt } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const characters = 32

/** Makes the prefix, `_` and 32 base62 characters from the system's random source. */
export function newSecret(prefix: string): string {
  const drawn = Array.from({ length: characters }, () => alphabet.charAt(randomInt(alphabet.length)))
  return `${prefix}_${drawn.join('')}`
}
