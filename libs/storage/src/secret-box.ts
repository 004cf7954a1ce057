import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Keyring } from './keyring.ts'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/**
 * Encrypts small secrets at rest. `aad` names owner and record, so that a value moved to another record does
 * not open.
 */
export type SecretBox = {
  /** `v1.<kid>.<base64url>`; another text each time. */
  seal(text: string, aad: string): string
  /**
   * @throws Error when the value was damaged, belongs to another `aad` or was sealed under a key that is
   * gone.
   */
  open(sealed: string, aad: string): string
}

/** AES-256-GCM under a key derived for `purpose`. */
export function createSecretBox(keyring: Keyring, purpose = 'secret-box'): SecretBox {
  return {
    seal(text, aad) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv(algorithm, keyring.derive(purpose, keyring.currentKid), iv)
      cipher.setAAD(Buffer.from(aad))
      const parts = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return `v1.${keyring.currentKid}.${Buffer.concat(parts).toString('base64url')}`
    },
    open(sealed, aad) {
      const [version, kid, encoded, ...rest] = sealed.split('.')
      if (version !== 'v1' || kid === undefined || encoded === undefined || rest.length > 0) {
        throw new Error('not a sealed value')
      }
      const bytes = Buffer.from(encoded, 'base64url')
      if (bytes.length < ivBytes + tagBytes) throw new Error('the sealed value is too short')
      const decipher = createDecipheriv(algorithm, keyring.derive(purpose, kid), bytes.subarray(0, ivBytes))
      decipher.setAAD(Buffer.from(aad))
      decipher.setAuthTag(bytes.subarray(-tagBytes))
      const text = decipher.update(bytes.subarray(ivBytes, -tagBytes))
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    },
  }
}
