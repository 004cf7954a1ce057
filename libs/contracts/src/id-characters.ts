/** Lower-case Crockford base32, the characters of ids. Source: docs/contract.md, section 1. */
export const idAlphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** As many characters of an id as asked for, five bits each, one from each of the first bytes of a hash. */
export function idCharacters(hash: Uint8Array, count: number): string {
  return [...hash.subarray(0, count)].map((byte) => idAlphabet.charAt(byte & 31)).join('')
}
