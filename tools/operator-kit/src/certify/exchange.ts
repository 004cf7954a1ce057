import {
  Agent as PlainAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
} from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'

const ANSWER_BYTES_MAX = 64 * 1024
const CONNECTIONS_MAX = 32
/** Less than servers keep an idle connection, so that a request never meets one that is just closing. */
const IDLE_CONNECTION_MS = 4000

type ExchangeRequest = {
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  timeoutMs: number
}

type Exchanged =
  | { kind: 'answer'; httpStatus: number; headers: IncomingHttpHeaders; text: string; latencyMs: number }
  | { kind: 'failure'; error: string; latencyMs: number }

export type Exchange = { post(request: ExchangeRequest): Promise<Exchanged>; close(): void }

/**
 * HTTP as the service does it: one deadline over the whole exchange, keep-alive, redirects never followed, at
 * most 64 KiB of an answer. `post` never throws; a time-out, a refused or broken connection and an oversized
 * answer are failures.
 */
export function createExchange(): Exchange {
  const options = { keepAlive: true, maxSockets: CONNECTIONS_MAX, timeout: IDLE_CONNECTION_MS }
  const agents = { plain: new PlainAgent(options), secure: new SecureAgent(options) }

  function send({ url, headers, body }: ExchangeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const isSecure = new URL(url).protocol === 'https:'
    const request = isSecure ? secureRequest : plainRequest
    const outgoing = request(url, {
      method: 'POST',
      agent: isSecure ? agents.secure : agents.plain,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      signal,
    })
    return new Promise((resolve, reject) => {
      outgoing.on('response', resolve)
      // Also after the response, when nobody waits any more: what reads the answer meets the failure, too.
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  return {
    close() {
      agents.plain.destroy()
      agents.secure.destroy()
    },
    async post(request) {
      const startedAt = performance.now()
      const elapsed = (): number => Math.round(performance.now() - startedAt)
      const signal = AbortSignal.timeout(request.timeoutMs)
      try {
        const answer = await send(request, signal)
        const chunks: Buffer[] = []
        let bytes = 0
        for await (const chunk of answer) {
          const piece = Buffer.from(chunk)
          bytes += piece.length
          if (bytes > ANSWER_BYTES_MAX)
            return { kind: 'failure', error: 'the answer exceeds 64 KiB', latencyMs: elapsed() }
          chunks.push(piece)
        }
        const { statusCode: httpStatus = 0, headers } = answer
        const text = Buffer.concat(chunks).toString('utf8')
        return { kind: 'answer', httpStatus, headers, text, latencyMs: elapsed() }
      } catch (error) {
        const late = `no complete answer within ${request.timeoutMs} ms`
        return { kind: 'failure', error: signal.aborted ? late : failureText(error), latencyMs: elapsed() }
      }
    },
  }
}

function failureText(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure'
  return error.message === '' ? error.name : error.message
}
