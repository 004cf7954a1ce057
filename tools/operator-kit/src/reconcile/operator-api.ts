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
    response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
  } catch (cause) {
    throw new Error(`${pathname}: no answer`, { cause })
  }
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return body
  const parsed = errorSchema.safeParse(body)
  const words = parsed.success ? `${parsed.data.code}: ${parsed.data.message}` : 'no error envelope'
  throw new Error(`${pathname}: ${response.status} ${words}`)
}
