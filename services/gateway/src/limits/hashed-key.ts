import { createHash } from 'node:crypto'

/** Hashes a text that a client chose, so that keys which gateways send one another stay short. */
export function hashedKey(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
