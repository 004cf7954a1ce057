import { mapBounded } from '@pitboss/runtime/map-bounded'
import { earliest } from '../rules/choose-due.ts'
import type { WebhooksContext } from '../context.ts'
import { instantText } from '../records/webhook-records.ts'
import { lagOf } from '../rules/lateness.ts'
import type { EndpointSummary } from '../storage/endpoint-store.ts'

const waitingEndpointsMax = 1000
const lookupsAtOnce = 8

/** When the delivery that is longest overdue was due, whether a breaker or busy workers hold it back. */
async function oldestDueAt({ endpoints, deliveries, clock }: WebhooksContext): Promise<Date | null> {
  const found = await endpoints.page('', waitingEndpointsMax)
  const firsts = await mapBounded(found, lookupsAtOnce, ({ _id }) => deliveries.firstDueAt(_id))
  const first = earliest(firsts)
  return first !== null && first <= clock.now() ? first : null
}

export async function readStatus(c: WebhooksContext) {
  const [{ oldestPendingAt, ...counts }, oldest, parked, paused_endpoints] = await Promise.all([
    ...([c.history.statusCounts(), oldestDueAt(c), c.parked.count(), c.endpoints.countPaused()] as const),
  ])
  const oldest_due_at = instantText(earliest([oldest, oldestPendingAt]))
  return { ...counts, oldest_due_at, parked, paused_endpoints }
}

/** Bounds of the open breakers, those that failed longest among them, and of endpoints without a worker. */
const [breakersMax, untakenMax] = [50, 50]
/** Events after an endpoint's cursor. Source: ours. */
const eventsMax = 50

/** What no worker of this process sees: endpoints that nobody runs. */
export type UnseenLag = Awaited<ReturnType<typeof readDueLag>>

type LagContext = Pick<WebhooksContext, 'endpoints' | 'deliveries' | 'events' | 'ranges' | 'clock'>

async function waitsSince(c: LagContext, { _id, ...endpoint }: EndpointSummary): Promise<Date | null> {
  const [first, cursor] = await Promise.all([c.deliveries.firstDueAt(_id), c.ranges.endOf(_id)])
  const next = cursor === null ? [] : await c.events.headersAfter(endpoint, cursor, eventsMax)
  const wanted = next.find(({ targets }) => targets.includes(_id))
  return earliest([first, wanted?.recordedAt])
}

/** Reads what is due at endpoints of all accounts. @param untaken those that no live worker has */
export async function readDueLag(c: LagContext, untaken: readonly EndpointSummary[]) {
  const now = c.clock.now()
  const [since, { count, longest }] = await Promise.all([
    mapBounded(untaken.slice(0, untakenMax), lookupsAtOnce, (endpoint) => waitsSince(c, endpoint)),
    c.endpoints.openBreakers(breakersMax),
  ])
  const firsts = await mapBounded(longest, lookupsAtOnce, (id) => c.deliveries.firstDueAt(id))
  return {
    breakersOpen: count,
    // Since the oldest delivery of an endpoint with an open breaker was due.
    behindBreakerMs: Math.max(0, ...firsts.map((at) => lagOf(at, now))),
    untakenMs: lagOf(earliest(since), now),
  }
}
