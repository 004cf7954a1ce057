import type { IncomingMessage } from 'node:http'
import { samplesClientTrace } from '@pitboss/tracing/sampling-rule'
import {
  inSpan,
  isTracing,
  liveTraceparent,
  type OpenSpan,
  samplingRule,
  withSampled,
} from '@pitboss/tracing/spans'
import { traceparentOf } from '../input/headers.ts'
import type { RateCounter } from '../limits/rate-counter.ts'

/** All clients of a gateway together: an attacker has many keys and addresses. */
const everybody = 'clients'

/**
 * Runs a request below a span. A client's trace goes on; whether it is recorded is ours to say, but for the
 * wishes of clients that `clientTraces` lets through. While tracing is off, it is the request alone.
 * Source: docs/traces.md.
 */
export function traceRequest<Result>(
  request: {
    raw: Pick<IncomingMessage, 'headers' | 'method'>
    requestId: string
    /** The row of the route table, as in metrics. */
    route: string
    clientTraces: Pick<RateCounter, 'take'>
  },
  work: (span: OpenSpan) => Promise<Result>,
): Promise<Result> {
  const { raw, requestId, route } = request
  const attributes = {
    'http.request.method': raw.method ?? '',
    'http.route': route.slice(route.indexOf(' ') + 1),
    'pitboss.request_id': requestId,
  }
  const parent = isTracing() ? parentOf(request) : null
  return inSpan(route, { kind: 'server', parent, attributes, requestId }, work)
}

/** The `traceparent` for the calls of a request: of its span, or the client's, not to be recorded. */
export function onwardTraceparent(raw: Pick<IncomingMessage, 'headers'>): string | undefined {
  const own = liveTraceparent()
  if (own !== undefined) return own
  const client = traceparentOf(raw)
  return client === undefined ? undefined : (withSampled(client, false) ?? undefined)
}

function parentOf({ raw, clientTraces }: Parameters<typeof traceRequest>[0]): string | null {
  const client = traceparentOf(raw)
  const rule = samplingRule()
  if (client === undefined || rule === null) return null
  const isSampled = samplesClientTrace(rule, {
    wished: (Number.parseInt(client.slice(-2), 16) & 1) === 1,
    mayForce: () => clientTraces.take(everybody, performance.now()).allowed,
    draw: Math.random(),
  })
  return withSampled(client, isSampled)
}
