import { createHmac, timingSafeEqual } from 'node:crypto'
import { notACursor } from '@pitboss/contracts/describe-issue'
import { canonicalJson } from '@pitboss/contracts/json'
import { invalidField } from '@pitboss/errors/service-error'
import type { Keyring } from './keyring.ts'

const macBytes = 16
const purpose = 'cursor'
const cursorCharactersMax = 2048

export type CursorCodec = ReturnType<typeof createCursorCodec>

/**
 * Makes opaque cursors of lists, signed and bound to the list, its filters, account and environment. On its
 * way out the gateway puts the filters beside it, so that the next page needs nothing else; those are good
 * because this is signed over them. Text form: base64url of `[kid, position]`, a dot, 16 bytes of
 * HMAC-SHA256. Source: docs/contract.md, sections 1, 11 and 12.
 */
export function createCursorCodec({ keyring }: { keyring: Keyring }) {
  const sign = (kid: string, binding: unknown, payload: string) =>
    createHmac('sha256', keyring.derive(purpose, kid))
      .update(canonicalJson(binding))
      .update('\n')
      .update(payload)
      .digest()
      .subarray(0, macBytes)

  return {
    /** @param position any JSON: where the next page goes on */
    encode(binding: unknown, position: unknown): string {
      const payload = Buffer.from(JSON.stringify([keyring.currentKid, position])).toString('base64url')
      return `${payload}.${sign(keyring.currentKid, binding, payload).toString('base64url')}`
    },
    /** @throws ServiceError VALIDATION_ERROR at `cursor` for a damaged cursor or one of another binding. */
    decode(binding: unknown, cursor: string): unknown {
      const [payload, mac, ...rest] = cursor.split('.')
      const parsed =
        payload === undefined || cursor.length > cursorCharactersMax ? null : parsePayload(payload)
      if (payload === undefined || mac === undefined || parsed === null || rest.length > 0)
        throw invalidField('cursor', notACursor)
      const given = Buffer.from(mac, 'base64url')
      if (
        given.length !== macBytes ||
        given.toString('base64url') !== mac ||
        !keyring.kidsOf(purpose).includes(parsed.kid)
      ) {
        throw invalidField('cursor', notACursor)
      }
      if (!timingSafeEqual(given, sign(parsed.kid, binding, payload)))
        throw invalidField('cursor', notACursor)
      return parsed.position
    },
  }
}

function parsePayload(payload: string): { kid: string; position: unknown } | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    if (!Array.isArray(value) || value.length !== 2) return null
    const [kid, position]: unknown[] = value
    return typeof kid === 'string' ? { kid, position } : null
  } catch {
    return null
  }
}
