import { createPublicKey, verify } from 'node:crypto'
import { askPatiently } from '@pitboss/runtime/ask-patiently'
import { z } from 'zod'

const timeoutMs = 30_000
const pageLimit = 200
const pagesMax = 100_000
const tokenSchema = z.object({ access_token: z.string() })
const errorSchema = z.object({ code: z.string(), message: z.string() })
const signedSchema = z.object({ signature: z.string() })
const pageSchema = z.object({ data: z.array(z.object({ id: z.string() })), next_cursor: z.string() })

/** Requests of the reconciliation, as an operator's server makes them. */
export type OperatorApi = {
  /** The manifest of a window as a compact JWS. */
  signedManifest(from: string, to: string): Promise<string>
  keySet(): Promise<unknown>
  /** Ids of all events created in a window, in recording order. */
  eventIds(from: string, to: string): Promise<string[]>
}

/** Mints a token. @throws Error with the service's code and message, also later when a call fails. */
export async function connectOperatorApi({
  apiUrl,
  key,
  secret,
}: {
  apiUrl: string
  key: string
  secret: string
}): Promise<OperatorApi> {
  const base = apiUrl.replace(/\/+$/, '')
  const minted = await ask(`${base}/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: key, api_secret: secret }),
  })
  const authorization = `Bearer ${tokenSchema.parse(minted).access_token}`
  const get = (path: string, query: Record<string, string>) =>
    ask(`${base}${path}?${new URLSearchParams(query).toString()}`, { headers: { authorization } })

  return {
    signedManifest: async (from, to) =>
      signedSchema.parse(await get('/v1/events/manifest', { from, to })).signature,
    keySet: () => ask(`${base}/v1/public/jwks.json`, {}),
    async eventIds(from, to) {
      const ids: string[] = []
      let cursor: string | null = null
      for (let page = 0; page < pagesMax; page++) {
        const query = { from, to, limit: String(pageLimit), ...(cursor === null ? {} : { cursor }) }
        const { data, next_cursor: next }: z.infer<typeof pageSchema> = pageSchema.parse(
          await get('/v1/events', query),
        )
        // The cursor of the last page is good for later; a page may be short for its size.
        if (data.length === 0) return ids
        ids.push(...data.map(({ id }) => id))
        cursor = next
      }
      throw new Error(`more than ${pagesMax} pages of events between ${from} and ${to}`)
    },
  }
}

async function ask(url: string, init: RequestInit): Promise<unknown> {
  const { pathname } = new URL(url)
  let response: Response
  try {
    response = await askPatiently(() =>
      fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) }),
    )
  } catch (cause) {
    throw new Error(`${pathname}: no answer`, { cause })
  }
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return body
  const parsed = errorSchema.safeParse(body)
  const words = parsed.success ? `${parsed.data.code}: ${parsed.data.message}` : 'no error envelope'
  throw new Error(`${pathname}: ${response.status} ${words}`)
}

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
