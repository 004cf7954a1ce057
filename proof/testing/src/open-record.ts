import { createPublicKey, verify } from 'node:crypto'
import { z } from 'zod'

const headerSchema = z.strictObject({ alg: z.literal('EdDSA'), typ: z.string(), kid: z.string() })
const keysSchema = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) })
const compact = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

/**
 * The payload of a signed record, as whoever is shown it would check it: with the published keys and nothing
 * that signs. Source: docs/player-protection.md, "The signed record".
 * @param keySet as `GET /v1/public/record-keys.json` answers it
 * @returns null when form, type, key or signature is not as it must be
 */
export function openRecord(jws: string, typ: string, keySet: unknown): unknown {
  const [head = '', payload = '', signature = ''] = jws.split('.')
  try {
    if (!compact.test(jws)) return null
    const header = headerSchema.parse(JSON.parse(textOf(head)))
    const key = keysSchema.parse(keySet).keys.find(({ kid }) => kid === header.kid)
    if (header.typ !== typ || key === undefined) return null
    const publicKey = createPublicKey({ key, format: 'jwk' })
    const bytes = Buffer.from(signature, 'base64url')
    // Other letters may stand for the same bytes at the end of base64url.
    const isExact = [head, payload, signature].every((part) => part === exact(part))
    const isGood = isExact && verify(null, Buffer.from(`${head}.${payload}`), publicKey, bytes)
    return isGood ? JSON.parse(textOf(payload)) : null
  } catch {
    return null
  }
}

const textOf = (part: string) => Buffer.from(part, 'base64url').toString('utf8')
const exact = (part: string) => Buffer.from(part, 'base64url').toString('base64url')
