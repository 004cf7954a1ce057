import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Keyring } from '@pitboss/storage/keyring'
import { kidOf } from '@pitboss/storage/stored-secrets'

/** Hashes high-entropy secrets, so that a dump of the database mints nothing. */
export type KeyedHash = {
  /** `v1.<kid>.<base64url>` under the current key. Equal texts give equal hashes. */
  hash(text: string): string
  /** Whether a hash was made under the current key. */
  isCurrent(hashed: string): boolean
  /** Compares in constant time; false for a hash that cannot be read or whose key is gone. Never throws. */
  verify(text: string, hashed: string): boolean
  /** The hashes under every key, the current first, for lookups that survive a rotation of master keys. */
  candidates(text: string): string[]
}

/** HMAC-SHA256 under a key derived for `purpose`. */
export function createKeyedHash(keyring: Keyring, purpose: string): KeyedHash {
  const keyPurpose = `keyed-hash/${purpose}`
  const hashUnder = (kid: string, text: string) => {
    const mac = createHmac('sha256', keyring.derive(keyPurpose, kid)).update(text).digest('base64url')
    return `v1.${kid}.${mac}`
  }
  return {
    hash: (text) => hashUnder(keyring.currentKid, text),
    isCurrent: (hashed) => kidOf(hashed) === keyring.currentKid,
    candidates: (text) => keyring.kidsOf(keyPurpose).map((kid) => hashUnder(kid, text)),
    verify(text, hashed) {
      const kid = kidOf(hashed)
      if (!keyring.kidsOf(keyPurpose).includes(kid)) return false
      const expected = Buffer.from(hashUnder(kid, text))
      const given = Buffer.from(hashed)
      return expected.length === given.length && timingSafeEqual(expected, given)
    },
  }
}
