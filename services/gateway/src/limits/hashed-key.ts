import { createHash } from 'node:crypto'

/** What a client chose, as a limiter counts it: short whatever was sent, since gateways tell one another their keys. */
export function hashedKey(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
