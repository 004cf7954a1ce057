import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { CallContext } from '@pitboss/contracts/call'
import type { Identity } from '../access/identify.ts'
import type { Tails } from '../answers/tails.ts'
import type { StaticFiles } from '../answers/pages.ts'
import type { Limiters } from '../limits/limiters.ts'
import type { Verdict } from '../limits/rate-counter.ts'
import type { RouteEntry } from '../routes/route-entry.ts'
import type { ReadinessProbe } from '../answers/probes.ts'

/** One request on its way through the gateway; query and body are as the route's schemas parsed them. */
export type Inbound<Body = unknown, Query = unknown> = {
  readonly entry: RouteEntry
  readonly raw: IncomingMessage
  /** Travels with every call made for the request. */
  readonly context: CallContext
  readonly clientAddress: string
  readonly params: Readonly<Record<string, string>>
  /** Null on routes without a token. */
  readonly identity: Identity | null
  readonly query: Query
  /** Undefined without a body and on `raw` routes. */
  readonly body: Body
  /** Shows a limiter's verdict in the answer. @throws ServiceError RATE_LIMITED when it refuses. */
  readonly admit: (verdict: Verdict) => void
  /** Names the operator behind a request without a token, for the request log. */
  readonly attribute: (to: Attribution) => void
}

/** The operator and key under which a request is logged. */
export type Attribution = {
  readonly operatorId: string
  readonly mode: 'TEST' | 'LIVE'
  readonly apiKey: string
}

export type Answer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Set-Cookie headers. */
  readonly cookies?: readonly string[]
  /** Sent as JSON; absent: no body, unless there is `content`. */
  readonly json?: unknown
  readonly content?: { readonly type: string; readonly data: string | Buffer | Readable }
}

export type Handler = (inbound: Inbound) => Promise<Answer>

/** The parts of one gateway that handlers work with. */
export type AnswerDeps = {
  readonly bus: Bus
  readonly limiters: Limiters
  readonly tails: Tails
  /** Without a slash at the end. */
  readonly baseUrl: string
  /** The built pages; null when they were not built. */
  readonly pages: StaticFiles | null
  readonly missing: ReadinessProbe
  /** The route table, for its description. */
  readonly routes: readonly RouteEntry[]
}
