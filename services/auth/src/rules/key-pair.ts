import { crc32 } from 'node:zlib'
import type { AccountMode } from '@pitboss/contracts/primitives'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const checksumCharacters = 6
const keyCharacters = 24
const secretCharacters = 40

/** Draws `size` bytes that cannot be guessed. */
export type RandomBytes = (size: number) => Uint8Array

/**
 * Makes a `ck_test_…` or `ck_live_…`. The last 6 characters are a checksum, by which a scanner recognises
 * a real key.
 * Source: docs/contract.md, section 3.
 */
export function newApiKey(environment: AccountMode, random: RandomBytes): string {
  return withChecksum(`ck_${environment.toLowerCase()}_`, keyCharacters, random)
}

/** Makes a `cs_test_…` or `cs_live_…` in the same way. */
export function newApiSecret(environment: AccountMode, random: RandomBytes): string {
  return withChecksum(`cs_${environment.toLowerCase()}_`, secretCharacters, random)
}

/** Tells whether the checksum of a key or secret is right, so that a scanner can report leaked ones alone. */
export function hasValidChecksum(text: string): boolean {
  const body = text.slice(0, -checksumCharacters)
  return /^c[ks]_(test|live)_[0-9A-Za-z]+$/.test(text) && text === body + checksum(body)
}

/** The text that is hashed for a secret: a hash that is copied to another key fits no secret there. */
export const boundSecret = (apiKey: string, secret: string): string => `${apiKey}/${secret}`

/** Draws uniform base62 text by rejection sampling. */
export function randomBase62(characters: number, random: RandomBytes): string {
  let text = ''
  while (text.length < characters) {
    for (const byte of random(characters)) {
      if (byte < 248 && text.length < characters) text += alphabet.charAt(byte % 62)
    }
  }
  return text
}

function withChecksum(prefix: string, characters: number, random: RandomBytes): string {
  const body = prefix + randomBase62(characters - checksumCharacters, random)
  return body + checksum(body)
}

function checksum(text: string): string {
  let rest = BigInt(crc32(text))
  let encoded = ''
  for (let position = 0; position < checksumCharacters; position++) {
    encoded = alphabet.charAt(Number(rest % 62n)) + encoded
    rest /= 62n
  }
  return encoded
}
