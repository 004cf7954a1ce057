import { v7 } from 'uuid'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const characters = 26
const bitsPerCharacter = 5n

/**
 * `<prefix>_` and 26 characters of lower-case Crockford base32: a UUIDv7, so ids made later sort later
 * (strictly within a process). Source: docs/contract.md, section 1.
 * @throws RangeError for a prefix that is not lower-case letters.
 */
export function newId(prefix: string): string {
  if (!/^[a-z]{2,8}$/.test(prefix)) throw new RangeError(`bad id prefix: ${prefix}`)
  let rest = BigInt(`0x${v7().replaceAll('-', '')}`)
  let text = ''
  for (let position = 0; position < characters; position++) {
    text = alphabet.charAt(Number(rest & 31n)) + text
    rest >>= bitsPerCharacter
  }
  return `${prefix}_${text}`
}
