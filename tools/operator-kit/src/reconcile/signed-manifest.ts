import { createPublicKey, verify } from 'node:crypto'
import { z } from 'zod'

const manifestType = 'pitboss-manifest+jws'
const hourSchema = z.object({
  hour: z.string(),
  count: z.number(),
  types: z.record(z.string(), z.number()),
  ids_sha256: z.string(),
})
const manifestSchema = z.object({
  from: z.string(),
  to: z.string(),
  operator_id: z.string(),
  environment: z.string(),
  hours: z.array(hourSchema),
})
const headerSchema = z.object({ alg: z.literal('EdDSA'), typ: z.literal(manifestType), kid: z.string() })
const keysSchema = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) })

/**
 * Number of events of each type in an hour, and SHA-256 over their ids in recording order, each followed by a
 * newline.
 */
export type ManifestHour = z.infer<typeof hourSchema>
export type Manifest = z.infer<typeof manifestSchema>

/**
 * Takes the manifest out of its compact JWS. Fields beside the signature in the answer are ignored: only the
 * signed ones count.
 * @param keySet the service's JWKS, as it was answered
 * @throws Error when the signature, its key or its type is not as it must be
 */
export function openManifest(jws: string, keySet: unknown): Manifest {
  const parts = jws.split('.')
  const [head, payload, signature] = parts
  if (parts.length !== 3 || head === undefined || payload === undefined || signature === undefined) {
    throw new Error('the manifest carries no signature')
  }
  const header = headerSchema.safeParse(decode(head))
  if (!header.success) throw new Error('the manifest is not signed as a manifest by EdDSA')
  const key = keysSchema.parse(keySet).keys.find(({ kid }) => kid === header.data.kid)
  if (key === undefined) throw new Error(`the manifest is signed by an unknown key, ${header.data.kid}`)
  const publicKey = createPublicKey({ key, format: 'jwk' })
  if (publicKey.asymmetricKeyType !== 'ed25519') throw new Error('the key of the manifest is not Ed25519')
  if (!verify(null, Buffer.from(`${head}.${payload}`), publicKey, Buffer.from(signature, 'base64url'))) {
    throw new Error('the signature of the manifest does not verify')
  }
  return manifestSchema.parse(decode(payload))
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  } catch {
    throw new Error('the manifest is not a compact JWS')
  }
}
