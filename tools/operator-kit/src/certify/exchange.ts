import {
  Agent as PlainAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
} from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { Socket } from 'node:net'
import type { Exchanged as CertifiedExchange } from '@pitboss/contracts/certification/exchange'
import { decodeBody, encodingOddities } from '@pitboss/outbound/decode-body'
import { failureOf, lateFailure, tooLong } from '@pitboss/outbound/describe-failure'
import { headOdditiesOf, normalizeAnswers } from '@pitboss/outbound/normalize-answers'

const ANSWER_BYTES_MAX = 64 * 1024
const CONNECTIONS_MAX = 32
/** Less than servers keep an idle connection, so that a request never meets one that is just closing. */
const IDLE_CONNECTION_MS = 4000
const notFinal = Object.assign(new Error('a status that is not final'), { code: 'HPE_INVALID_STATUS' })

type ExchangeRequest = {
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  timeoutMs: number
  /** A success counts from its head on: of its body what comes within this time is read. */
  successBodyMs?: number
}

type Answer = Omit<Extract<CertifiedExchange, { kind: 'answer' }>, 'contentType'>
type Failure = Extract<CertifiedExchange, { kind: 'failure' }>
type Exchanged = (Answer & { readonly headers: IncomingHttpHeaders }) | Failure

export type Exchange = { post(request: ExchangeRequest): Promise<Exchanged>; close(): void }

/**
 * HTTP as the service does it: one deadline over the whole exchange, keep-alive, redirects never followed, at
 * most 64 KiB of an answer, decoded where it is encoded, heads read as the service reads them. `post` never
 * throws; a time-out, a refused or broken connection and an oversized answer are failures.
 */
export function createExchange(): Exchange {
  const options = { keepAlive: true, maxSockets: CONNECTIONS_MAX, timeout: IDLE_CONNECTION_MS }
  const agents = {
    plain: normalizing(new PlainAgent(options)),
    secure: normalizing(new SecureAgent(options)),
  }

  function send({ url, headers, body }: ExchangeRequest, signal: AbortSignal) {
    const isSecure = new URL(url).protocol === 'https:'
    const request = isSecure ? secureRequest : plainRequest
    const outgoing = request(url, {
      method: 'POST',
      agent: isSecure ? agents.secure : agents.plain,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      signal,
    })
    return new Promise<IncomingMessage | 'closed before'>((resolve, reject) => {
      outgoing.on('response', resolve)
      // Also after the response, when nobody waits any more: what reads the answer meets the failure, too.
      outgoing.on('error', (error) => {
        const isReset = 'code' in error && error.code === 'ECONNRESET'
        if (outgoing.reusedSocket && isReset && !signal.aborted) resolve('closed before')
        else reject(error)
      })
      outgoing.end(body)
    })
  }

  /** A kept connection may have been closed before the request came: then it goes over another one. */
  async function sendOnce(request: ExchangeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    for (let count = 0; count <= CONNECTIONS_MAX; count++) {
      const answer = await send(request, signal)
      if (answer !== 'closed before') return answer
    }
    throw Object.assign(new Error('every connection was closed'), { code: 'ECONNRESET' })
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
      const failed = ({ words: error, remedy }: { words: string; remedy: string }): Failure => ({
        ...{ kind: 'failure', error, remedy, latencyMs: elapsed() },
      })
      let begunWith: number | null = null
      try {
        const answer = await sendOnce(request, signal)
        const { statusCode: httpStatus = 0, headers } = answer
        begunWith = httpStatus
        // Nobody asked for another protocol.
        if (httpStatus < 200) return failed(failureOf(notFinal))
        const isSuccess = httpStatus >= 200 && httpStatus < 300
        const untilMs = isSuccess ? request.successBodyMs : undefined
        const read = await readBody(answer, untilMs)
        const encoding = headers['content-encoding']
        const decoded = decodeBody(read.bytes, encoding, ANSWER_BYTES_MAX)
        if (untilMs === undefined && (read.isCutOff || decoded?.cutOff === true)) return failed(tooLong)
        const unfinished = read.isUnfinished ? (['unfinished'] as const) : []
        const oddities = [...headOdditiesOf(headers), ...encodingOddities(encoding, decoded), ...unfinished]
        const body = decoded?.bytes ?? read.bytes
        return { kind: 'answer', httpStatus, headers, body, oddities, latencyMs: elapsed() }
      } catch (error) {
        if (signal.aborted) return failed(lateFailure(request.timeoutMs, begunWith))
        return failed(failureOf(error))
      }
    },
  }
}

/** Reads to the end, to the limit, or as long as `untilMs` says. */
async function readBody(answer: IncomingMessage, untilMs: number | undefined) {
  const chunks: Buffer[] = []
  let bytes = 0
  let isUnfinished = false
  const cut = () => {
    isUnfinished = true
    answer.destroy()
  }
  const timer = untilMs === undefined ? undefined : setTimeout(cut, untilMs)
  try {
    for await (const chunk of answer) {
      const piece = Buffer.from(chunk)
      bytes += piece.length
      if (bytes > ANSWER_BYTES_MAX) break
      chunks.push(piece)
    }
  } catch (error) {
    // A success counts from its head on, also when its body breaks off.
    if (untilMs === undefined) throw error
  } finally {
    clearTimeout(timer)
  }
  return {
    bytes: Buffer.concat(chunks),
    isCutOff: bytes > ANSWER_BYTES_MAX,
    isUnfinished,
  }
}

/** The agent, whose sockets give the parser heads that it can read. */
function normalizing<Kind extends PlainAgent>(agent: Kind): Kind {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (...given) => {
    const socket = connect(...given)
    if (socket instanceof Socket) normalizeAnswers(socket)
    return socket
  }
  return agent
}
