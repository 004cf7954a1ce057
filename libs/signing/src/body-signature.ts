import { createHmac, timingSafeEqual } from 'node:crypto'

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

/** Recommended replay window on either side of the receiver's clock. Source: docs/contract.md, section 7. */
export const SIGNATURE_TOLERANCE_S = 300

export type VerifyBodyInput = {
  secret: string
  /** The timestamp header as received; undefined when it was missing. */
  timestamp: string | undefined
  /** 64 hex characters as received, without a "v1=" prefix; undefined when it was missing. */
  signature: string | undefined
  rawBody: Uint8Array | string
  /** The receiver's clock in Unix seconds. */
  nowS: number
  /** Seconds, default 300; a difference of exactly this much is still accepted. */
  toleranceS?: number
}

export type VerifyBodyResult =
  | { ok: true }
  | {
      ok: false
      reason:
        | 'TIMESTAMP_MALFORMED'
        | 'TIMESTAMP_OUTSIDE_WINDOW'
        | 'SIGNATURE_MALFORMED'
        | 'SIGNATURE_MISMATCH'
    }

/**
 * Checks a signature made by `signBody`: shape of the timestamp, replay window, then the HMAC compared in
 * constant time and length-checked. Never throws. Remembering used signatures is the caller's part.
 */
export function verifyBody(input: VerifyBodyInput): VerifyBodyResult {
  const { secret, timestamp, signature, rawBody, nowS, toleranceS = SIGNATURE_TOLERANCE_S } = input
  if (timestamp === undefined || !/^[0-9]{10}$/.test(timestamp)) {
    return { ok: false, reason: 'TIMESTAMP_MALFORMED' }
  }
  if (Math.abs(Math.floor(nowS) - Number(timestamp)) > toleranceS) {
    return { ok: false, reason: 'TIMESTAMP_OUTSIDE_WINDOW' }
  }
  if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) {
    return { ok: false, reason: 'SIGNATURE_MALFORMED' }
  }
  const expected = Buffer.from(signBody(secret, timestamp, rawBody), 'hex')
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'))
    ? { ok: true }
    : { ok: false, reason: 'SIGNATURE_MISMATCH' }
}
