import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Keyring } from './keyring.ts'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

export type SecretBox = ReturnType<typeof createSecretBox>

/** The id of the master key under which a text was sealed or hashed; empty for any other text. */
export function kidOf(stored: string): string {
  return stored.split('.')[1] ?? ''
}

/**
 * Encrypts small secrets at rest, by AES-256-GCM under a key derived for `purpose`; `aad` names owner and
 * record, elsewhere the value does not open.
 */
export function createSecretBox(keyring: Keyring, purpose = 'secret-box') {
  const keys = new Map<string, KeyObject>()

  return {
    seal,
    open,
    /** The value sealed under the current key; itself when it is already. @throws Error as `open` */
    reseal(sealed: string, aad: string): string {
      const text = open(sealed, aad)
      return kidOf(sealed) === keyring.currentKid ? sealed : seal(text, aad)
    },
  }

  /** A cipher makes a key object of plain bytes each time, which costs more than a short text. */
  function keyOf(kid: string): KeyObject {
    const known = keys.get(kid)
    if (known !== undefined) return known
    const key = createSecretKey(keyring.derive(purpose, kid))
    keys.set(kid, key)
    return key
  }

  /** `v1.<kid>.<base64url>`; another text each time. */
  function seal(text: string, aad: string): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv(algorithm, keyOf(keyring.currentKid), iv)
    cipher.setAAD(Buffer.from(aad))
    const parts = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
    return `v1.${keyring.currentKid}.${Buffer.concat(parts).toString('base64url')}`
  }

  /** @throws Error for a damaged value, another `aad`, or a key that is gone. */
  function open(sealed: string, aad: string): string {
    const [version, kid, encoded, ...rest] = sealed.split('.')
    if (version !== 'v1' || kid === undefined || encoded === undefined || rest.length > 0) {
      throw new Error('not a sealed value')
    }
    const bytes = Buffer.from(encoded, 'base64url')
    if (bytes.length < ivBytes + tagBytes) throw new Error('the sealed value is too short')
    const decipher = createDecipheriv(algorithm, keyOf(kid), bytes.subarray(0, ivBytes))
    decipher.setAAD(Buffer.from(aad))
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    const text = decipher.update(bytes.subarray(ivBytes, -tagBytes))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  }
}
