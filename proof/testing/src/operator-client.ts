import { z } from 'zod'
import { createOpenApiCheck, type OpenApiCheck } from './openapi-check.ts'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { waitFor } from './wait-for.ts'

export type Answer = { status: number; body: Record<string, unknown>; headers: Headers }

const object = z.record(z.string(), z.unknown())
const nextCursor = z.string().nullable()

/**
 * One HTTP exchange; a lost connection is status 0.
 * @throws Error when the answer does not fit the OpenAPI document of its server.
 */
export async function send(
  method: string,
  url: string,
  options: { token?: string; body?: unknown; rawBody?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { token, body, rawBody, headers = {} } = options
  const payload = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload }),
    signal: AbortSignal.timeout(25_000),
  })
    .then(async (answer) => ({ answer, text: await answer.text() }))
    .catch((error: unknown) => String(error))
  if (typeof response === 'string') return { status: 0, body: { error: response }, headers: new Headers() }
  const { answer, text } = response
  const { status } = answer
  const contentType = answer.headers.get('content-type') ?? ''
  const misfit = (await openApiOf(url))?.misfit({ method, url, status, contentType, text })
  if (typeof misfit === 'string')
    throw new Error(`${method} ${url} answered ${status} against its description: ${misfit}: ${text}`)
  return { status, body: text === '' ? {} : object.parse(JSON.parse(text)), headers: answer.headers }
}

const descriptions = new Map<string, Promise<OpenApiCheck | null>>()

/** The description that the server of `url` gives of itself; null for one without, such as a wallet. */
function openApiOf(url: string): Promise<OpenApiCheck | null> {
  const { origin } = new URL(url)
  const load = async () => {
    const answer = await fetch(`${origin}/v1/public/openapi.json`)
    return answer.ok ? createOpenApiCheck(await answer.json()) : null
  }
  const known = descriptions.get(origin) ?? load()
  descriptions.set(origin, known)
  return known
}

/**
 * Asks again, as an operator's server does, when the product says that it is briefly unable to answer: a busy
 * machine may hold it up. Any other answer is given at once.
 */
export function untilServed(what: string, ask: () => Promise<Answer>): Promise<Answer> {
  const isShed = ({ status, body }: Answer) => status === 503 && body.retryable === true
  return waitFor(
    async () => {
      const answer = await ask()
      return isShed(answer) ? null : answer
    },
    { what, everyMs: 100 },
  )
}

/** The operator's server: holds a token and speaks the API of one environment. */
export async function createOperatorClient(demo: DemoFile, keys = demo.test) {
  const base = `${demo.base_url}/v1`
  const minted = await untilServed('a token', () => send('POST', `${base}/auth/token`, { body: keys }))
  if (minted.status !== 200)
    throw new Error(`minting answered ${minted.status}: ${JSON.stringify(minted.body)}`)
  const token = String(minted.body.access_token)
  return {
    token,
    call: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(method, base + path, { token, headers, ...(body === undefined ? {} : { body }) }),
    /** Opens a session and gives the player's own client. */
    async openSession(body: Record<string, unknown>) {
      const opened = await untilServed('a session', () => send('POST', `${base}/sessions`, { token, body }))
      if (opened.status !== 201)
        throw new Error(`a session answered ${opened.status}: ${JSON.stringify(opened.body)}`)
      const playerToken = new URL(String(opened.body.launch_url)).hash.replace('#token=', '')
      return {
        session: opened.body,
        playerToken,
        call: (method: string, path: string, payload?: unknown) =>
          send(method, base + path, {
            token: playerToken,
            ...(payload === undefined ? {} : { body: payload }),
          }),
      }
    },
    /** Every row of a list, page by page. */
    async all(path: string): Promise<Record<string, unknown>[]> {
      const rows: Record<string, unknown>[] = []
      let cursor: string | null = null
      do {
        const glue = path.includes('?') ? '&' : '?'
        const page = await send(
          'GET',
          `${base}${path}${glue}limit=200${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
          { token },
        )
        if (page.status !== 200)
          throw new Error(`${path} answered ${page.status}: ${JSON.stringify(page.body)}`)
        const data = z.array(object).parse(page.body.data)
        rows.push(...data)
        cursor = data.length === 0 ? null : nextCursor.parse(page.body.next_cursor)
      } while (cursor !== null)
      return rows
    },
  }
}
export type OperatorClient = Awaited<ReturnType<typeof createOperatorClient>>
