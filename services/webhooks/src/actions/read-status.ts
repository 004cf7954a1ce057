import { orderedBy } from '@pitboss/contracts/audit'
import type { RewindStart } from '@pitboss/contracts/calls/rewind'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { acknowledgedSequence } from '@pitboss/bus/consume-durable'
import { webhooksFanout } from '@pitboss/bus/topology'
import { earliest } from '../rules/choose-due.ts'
import type { WebhooksContext } from '../context.ts'

const waitingEndpointsMax = 1000
const lookupsAtOnce = 8

export function createReadStatus({ endpoints, deliveries, history, parked, clock }: WebhooksContext) {
  /** The due time of the delivery that is longest overdue, whether a breaker or busy workers hold it back. */
  async function oldestDueAt(): Promise<Date | null> {
    const found = await endpoints.page('', waitingEndpointsMax)
    const firsts = await mapBounded(found, lookupsAtOnce, ({ _id }) => deliveries.firstDueAt(_id))
    const nowMs = clock.now().getTime()
    const overdueMs = firsts.flatMap((at) => (at !== null && at.getTime() <= nowMs ? [at.getTime()] : []))
    return overdueMs.length === 0 ? null : new Date(Math.min(...overdueMs))
  }

  /** The backlog of all accounts, for operations. */
  return async function readStatus() {
    const [{ oldestPendingAt, ...counts }, oldest, parkedCount, pausedEndpoints] = await Promise.all([
      history.statusCounts(),
      oldestDueAt(),
      parked.count(),
      endpoints.countPaused(),
    ])
    return {
      ...counts,
      oldestDueAt: earliest([oldest, oldestPendingAt].flatMap((at) => at ?? [])),
      parked: parkedCount,
      pausedEndpoints,
    }
  }
}

/** Counts what a rewind of the fan-out consumer repairs. Source: docs/contract.md, section 10. */
export function createRewindFanout({ bus, rewinds, audit }: WebhooksContext) {
  const { stream, config } = webhooksFanout
  return {
    start: (request: RewindStart, requestId: string) =>
      rewinds.start(request, (after) =>
        audit.entry(orderedBy(request.order, null, requestId), {
          act: 'consumer.rewind',
          object: { type: 'consumer', id: config.durable_name },
          before: null,
          after,
        }),
      ),
    /** @throws ServiceError NOT_FOUND */
    show: async (rewindId: string) =>
      rewinds.progress(rewindId, await acknowledgedSequence(bus, stream, config.durable_name)),
  }
}
