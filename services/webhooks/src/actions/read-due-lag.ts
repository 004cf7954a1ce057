import { mapBounded } from '@pitboss/runtime/map-bounded'
import { earliest } from '../rules/choose-due.ts'
import { lagOf } from '../rules/lateness.ts'
import type { EndpointSummary } from '../storage/endpoint-store.ts'
import type { WebhooksContext } from '../context.ts'

/** The open breakers to read of; the ones that failed longest are among them. Source: ours. */
const breakersLookedInto = 50
const lookupsAtOnce = 8
/** Of the endpoints that no worker has, and of the events after an endpoint's cursor. Source: ours. */
const untakenLookedInto = 50
const eventsLookedInto = 50

/** What no worker of this process sees: endpoints that nobody runs. */
export type UnseenLag = {
  readonly breakersOpen: number
  /** Milliseconds since the oldest delivery of an endpoint with an open breaker was due. */
  readonly behindBreakerMs: number
  /** Milliseconds that an endpoint has waited for a worker. */
  readonly untakenMs: number
}

type LagContext = Pick<WebhooksContext, 'endpoints' | 'deliveries' | 'events' | 'ranges' | 'clock'>

/** When the first thing was due that this endpoint waits for; null for nothing. */
async function waitsSince(
  { deliveries, events, ranges }: LagContext,
  { _id, operatorId, environment }: EndpointSummary,
): Promise<Date | null> {
  const [first, cursor] = await Promise.all([deliveries.firstDueAt(_id), ranges.endOf(_id)])
  const scope = { operatorId, environment }
  const next = cursor === null ? [] : await events.headersAfter(scope, cursor, eventsLookedInto)
  const wanted = next.find(({ targets }) => targets.includes(_id))
  return earliest([first, wanted?.recordedAt ?? null].flatMap((at) => at ?? []))
}

/** Reads what is due at endpoints of all accounts. @param untaken those that no live worker has */
export async function readDueLag(c: LagContext, untaken: readonly EndpointSummary[]): Promise<UnseenLag> {
  const now = c.clock.now()
  const [since, { count, longest }] = await Promise.all([
    mapBounded(untaken.slice(0, untakenLookedInto), lookupsAtOnce, (endpoint) => waitsSince(c, endpoint)),
    c.endpoints.openBreakers(breakersLookedInto),
  ])
  const firsts = await mapBounded(longest, lookupsAtOnce, (id) => c.deliveries.firstDueAt(id))
  return {
    breakersOpen: count,
    behindBreakerMs: Math.max(0, ...firsts.map((at) => lagOf(at, now))),
    untakenMs: lagOf(earliest(since.flatMap((at) => at ?? [])), now),
  }
}
