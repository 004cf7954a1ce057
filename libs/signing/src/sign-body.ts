import { createHmac } from 'node:crypto'

/**
 * Lower-case hex HMAC-SHA256(secret, timestamp + "." + raw body), 64 characters. The key is the secret's
 * UTF-8 bytes, prefix included. Used for wallet calls, webhooks (after "v1=") and wallet callbacks.
 * @param timestamp Unix seconds as the ten-digit string that travels in the header
 * @param rawBody the exact bytes sent. Source: docs/contract.md, sections 6 and 7.
 */
export function signBody(secret: string, timestamp: string, rawBody: Uint8Array | string): string {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest('hex')
}

/** The ten-digit Unix seconds of an instant, as the timestamp headers carry them. */
export function signatureTimestamp(at: Date): string {
  return Math.floor(at.getTime() / 1000)
    .toString()
    .padStart(10, '0')
}
