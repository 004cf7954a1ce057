import { Pool } from 'undici'

export type HttpAnswer = { status: number; text: string }
export type HttpClient = {
  send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    options?: { token?: string; body?: unknown },
  ): Promise<HttpAnswer>
  close(): Promise<void>
}

const timeoutMs = 30_000

/**
 * Keep-alive connections to one server, as many as there are callers.
 * @param localAddress from which they are made; any unless given
 */
export function createHttpClient(origin: string, connections: number, localAddress?: string): HttpClient {
  const from = localAddress === undefined ? {} : { localAddress }
  const pool = new Pool(origin, { ...from, connections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
  return {
    async send(method, path, { token, body } = {}) {
      const { statusCode, body: answer } = await pool.request({
        method,
        path,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: statusCode, text: await answer.text() }
    },
    close: () => pool.destroy(),
  }
}

/** As `send`, for an answer that must have `status`. @throws Error with the answer. */
export async function expectStatus(status: number, answer: Promise<HttpAnswer>): Promise<string> {
  const { status: got, text } = await answer
  if (got !== status) throw new Error(`answered ${got} instead of ${status}: ${text.slice(0, 500)}`)
  return text
}
