import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Oddity } from '@pitboss/contracts/certification/exchange'
import type { OutboundPolicy, OutboundSettings } from '@pitboss/outbound/address-guard'
import { decodeBody, encodingOddities } from '@pitboss/outbound/decode-body'
import { failureOf, lateFailure } from '@pitboss/outbound/describe-failure'
import { type Answer, DeadlineError, exchange, isSuccess } from '@pitboss/outbound/exchange'
import { createGuardedAgent } from '@pitboss/outbound/guarded-agent'
import { headOdditiesOf } from '@pitboss/outbound/normalize-answers'
import { resolveName } from '@pitboss/outbound/resolve-name'
import type { Agent } from 'undici'
import type { AttemptTimings } from '../storage/collections.ts'

/** Deadline of a whole exchange. Source: docs/contract.md, section 7. */
const exchangeTimeoutMs = 15_000
const connectTimeoutMs = 5000
/** A success counts from its head on; of its body what comes within this time is kept. */
const successBodyMs = 1000
const bodyReadBytes = 64 * 1024
const excerptBytes = 4 * 1024
const connectionsMax = 1024

type Setup = OutboundPolicy['environment']

type WebhookPost = {
  readonly account: string
  readonly url: string
  readonly environment: Setup
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type WebhookAnswer = {
  /** A 2xx status, even when the body broke off. */
  readonly ok: boolean
  readonly httpStatus: number | null
  readonly error: string | null
  readonly headers: Answer['headers']
  readonly excerpt: string | null
  readonly durationMs: number
  readonly timings: AttemptTimings
  /** What its owner can do about a request without an answer. */
  readonly remedy?: string
  /** What a certification notes, though the answer is taken. */
  readonly oddities: readonly Oddity[]
}

export type PostWebhook = (post: WebhookPost) => Promise<WebhookAnswer>

type Marks = {
  readonly account: string
  readonly startedAt: number
  dns: number | null
  tcp: number | null
  /** The connection was made, with TLS where it is used. */
  connected: number | null
  secure: boolean
  firstByte: number | null
}

/** The exchange that opens a socket, so that its phases count for the right attempt. */
const underWay = new AsyncLocalStorage<Marks>()
subscribe('undici:client:connected', () => {
  const marks = underWay.getStore()
  if (marks !== undefined) marks.connected ??= performance.now()
})

/**
 * Posts to receivers: one deadline for the exchange and 5 s to connect, addresses checked at each connection,
 * no redirects, at most 64 KiB of the answer read and 4 KiB kept. Never rejects. Source: docs/contract.md,
 * section 7.
 */
export function createPostWebhook(outbound: OutboundSettings, timeoutMs = exchangeTimeoutMs) {
  const agent = (environment: Setup) =>
    createGuardedAgent({
      ...{ policy: policyOf(outbound, environment), connectionsMax, connectTimeoutMs },
      ...{ resolve: timedResolve, onOpening: timeTcp },
    })
  const agents = { TEST: agent('TEST'), LIVE: agent('LIVE') }
  const post: PostWebhook = (request) => {
    const marks: Marks = {
      ...{ account: request.account, secure: request.url.startsWith('https:') },
      ...{ startedAt: performance.now(), dns: null, tcp: null, connected: null, firstByte: null },
    }
    return underWay.run(marks, () => postOnce(agents[request.environment], request, marks, timeoutMs))
  }
  return { post, close: () => Promise.all([agents.TEST.destroy(), agents.LIVE.destroy()]) }
}

export function policyOf(outbound: OutboundSettings, environment: Setup): OutboundPolicy {
  return { ...outbound, environment, allowLoopback: environment === 'TEST' && outbound.allowLoopback }
}

async function postOnce(agent: Agent, { url, headers, body }: WebhookPost, marks: Marks, timeoutMs: number) {
  const request = { url, headers: { 'accept-encoding': 'identity', ...headers }, body }
  try {
    const received = await exchange(agent, request, { timeoutMs, successBodyMs, bytesMax: bodyReadBytes })
    marks.firstByte = received.headAtMs
    const { text, oddities } = excerptOf(received)
    const isUnfinished = received.end === 'late' && isSuccess(received.status)
    const all = [...headOdditiesOf(received.headers), ...oddities]
    return answer(marks, {
      ...{ httpStatus: received.status, error: null, headers: received.headers, excerpt: text },
      oddities: isUnfinished ? [...all, 'unfinished'] : all,
    })
  } catch (error) {
    const { words, remedy } =
      error instanceof DeadlineError
        ? { ...lateFailure(timeoutMs, null), words: `no complete answer within ${timeoutMs / 1000} s` }
        : failureOf(error)
    const nothing = { httpStatus: null, headers: {}, excerpt: null, oddities: [] }
    return answer(marks, { ...nothing, error: words, remedy })
  }
}

function answer(marks: Marks, received: Omit<WebhookAnswer, 'ok' | 'durationMs' | 'timings'>): WebhookAnswer {
  const { startedAt, dns, tcp, connected, secure, firstByte } = marks
  const totalMs = performance.now() - startedAt
  const { httpStatus } = received
  const ok = httpStatus !== null && isSuccess(httpStatus)
  const refused = httpStatus !== null && isRedirect(httpStatus) ? ': redirects are not followed' : ''
  const error = httpStatus === null ? received.error : `HTTP ${httpStatus}${refused}`
  return {
    ...{ ...received, ok, error: ok ? null : error, durationMs: Math.round(totalMs) },
    // Phases follow each other; null for one that was not reached, or not needed on a kept-alive socket.
    timings: {
      dnsMs: between(startedAt, dns),
      connectMs: between(dns ?? startedAt, tcp),
      tlsMs: secure ? between(tcp, connected) : null,
      firstByteMs: between(connected ?? startedAt, firstByte),
      totalMs: tenths(totalMs),
    },
  }
}

export const isRedirect = (status: number): boolean => status >= 300 && status < 400
const tenths = (ms: number) => Math.round(ms * 10) / 10
const between = (from: number | null, to: number | null) =>
  from === null || to === null ? null : tenths(to - from)

/** The beginning of the body as text; a body that breaks off is no failure of its own. */
function excerptOf({ headers, body }: Answer): { text: string; oddities: readonly Oddity[] } {
  const encoding = headers['content-encoding']
  const decoded = decodeBody(body, encoding, bodyReadBytes)
  const bytes = (decoded?.bytes ?? body).subarray(0, excerptBytes)
  const text = decoderOf(charsetOf(headers['content-type'])).decode(bytes)
  return { text, oddities: encodingOddities(encoding, decoded) }
}

function charsetOf(type: string | string[] | undefined): string {
  return /;\s*charset=\s*"?([^";\s]+)/i.exec(String(type ?? ''))?.[1] ?? 'utf-8'
}

const utf8 = new TextDecoder()

/** What nobody knows is read as UTF-8. */
function decoderOf(charset: string) {
  if (charset === 'utf-8') return utf8
  try {
    return new TextDecoder(charset)
  } catch {
    return utf8
  }
}

/** The first value of a header of an answer; null without it. */
export function headerOf({ headers }: Pick<WebhookAnswer, 'headers'>, name: string): string | null {
  return [headers[name]].flat()[0] ?? null
}

function timeTcp(socket: Socket): void {
  const marks = underWay.getStore()
  socket.once('connect', () => {
    if (marks !== undefined) marks.tcp ??= performance.now()
  })
}

async function timedResolve(host: string) {
  const marks = underWay.getStore()
  try {
    return await resolveName(host, marks?.account ?? '')
  } finally {
    if (marks !== undefined) marks.dns ??= performance.now()
  }
}
