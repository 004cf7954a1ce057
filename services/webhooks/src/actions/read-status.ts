import { orderedBy } from '@pitboss/contracts/audit'
import type { RewindStart } from '@pitboss/contracts/calls/rewind'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { acknowledgedSequence } from '@pitboss/bus/consume-durable'
import { webhooksFanout } from '@pitboss/bus/topology'
import { earliest } from '../rules/choose-due.ts'
import type { WebhooksContext } from '../context.ts'

const waitingEndpointsMax = 1000
const lookupsAtOnce = 8

/** When the delivery that is longest overdue was due, whether a breaker or busy workers hold it back. */
async function oldestDueAt({ endpoints, deliveries, clock }: WebhooksContext): Promise<Date | null> {
  const found = await endpoints.page('', waitingEndpointsMax)
  const firsts = await mapBounded(found, lookupsAtOnce, ({ _id }) => deliveries.firstDueAt(_id))
  const first = earliest(firsts.flatMap((at) => at ?? []))
  return first !== null && first <= clock.now() ? first : null
}

/** Reads the backlog of all accounts, for operations. */
export async function readStatus(c: WebhooksContext) {
  const [{ oldestPendingAt, ...counts }, oldest, parked, pausedEndpoints] = await Promise.all([
    ...([c.history.statusCounts(), oldestDueAt(c), c.parked.count(), c.endpoints.countPaused()] as const),
  ])
  const dueAt = earliest([oldest, oldestPendingAt].flatMap((at) => at ?? []))
  return { ...counts, oldestDueAt: dueAt, parked, pausedEndpoints }
}

/** Starts a count of what a rewind of the fan-out consumer repairs. Source: docs/contract.md, section 10. */
export function startRewind({ rewinds, audit }: WebhooksContext, request: RewindStart, requestId: string) {
  return rewinds.start(request, (after) =>
    audit.entry(orderedBy(request.order, null, requestId), {
      act: 'consumer.rewind',
      object: { type: 'consumer', id: webhooksFanout.config.durable_name },
      before: null,
      after,
    }),
  )
}

/** Reads what a rewind has repaired. @throws ServiceError NOT_FOUND */
export async function showRewind({ bus, rewinds }: WebhooksContext, rewindId: string) {
  const { stream, config } = webhooksFanout
  return rewinds.progress(rewindId, await acknowledgedSequence(bus, stream, config.durable_name))
}
