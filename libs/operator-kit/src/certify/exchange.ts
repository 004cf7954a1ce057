import { Agent } from 'undici'

const ANSWER_BYTES_MAX = 64 * 1024
const CONNECTIONS_MAX = 32

export type ExchangeRequest = {
  url: string
  headers: Record<string, string>
  body: string | Uint8Array
  timeoutMs: number
}

export type Exchanged =
  | {
      kind: 'answer'
      httpStatus: number
      headers: Record<string, string | string[] | undefined>
      text: string
      latencyMs: number
    }
  | { kind: 'failure'; error: string; latencyMs: number }

export type Exchange = { post(request: ExchangeRequest): Promise<Exchanged>; close(): Promise<void> }

/**
 * HTTP as the service does it: one deadline over the whole exchange, keep-alive, redirects never followed, at most
 * 64 KiB of an answer. `post` never throws; a time-out, a refused or broken connection and an oversized answer are failures.
 */
export function createExchange(): Exchange {
  const agent = new Agent({ connections: CONNECTIONS_MAX, pipelining: 1 })
  return {
    close: () => agent.close(),
    async post({ url, headers, body, timeoutMs }) {
      const startedAt = performance.now()
      const elapsed = (): number => Math.round(performance.now() - startedAt)
      const { origin, pathname, search } = new URL(url)
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const answer = await agent.request({
          origin,
          path: pathname + search,
          method: 'POST',
          headers,
          body,
          signal,
        })
        const chunks: Buffer[] = []
        let bytes = 0
        for await (const chunk of answer.body) {
          const piece = Buffer.from(chunk)
          bytes += piece.length
          if (bytes > ANSWER_BYTES_MAX)
            return { kind: 'failure', error: 'the answer exceeds 64 KiB', latencyMs: elapsed() }
          chunks.push(piece)
        }
        const text = Buffer.concat(chunks).toString('utf8')
        return {
          kind: 'answer',
          httpStatus: answer.statusCode,
          headers: answer.headers,
          text,
          latencyMs: elapsed(),
        }
      } catch (error) {
        return { kind: 'failure', error: failureText(error, timeoutMs), latencyMs: elapsed() }
      }
    },
  }
}

function failureText(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'unknown failure'
  if (error.name === 'TimeoutError') return `no complete answer within ${timeoutMs} ms`
  return error.message === '' ? error.name : error.message
}
