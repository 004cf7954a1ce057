import type { Clock } from '@pitboss/runtime/clock'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { ParkedStore } from '../storage/parked-store.ts'

const waitingEndpointsMax = 1000
const lookupsAtOnce = 8

export type ReadStatus = ReturnType<typeof createReadStatus>

export function createReadStatus({
  endpoints,
  deliveries,
  parked,
  clock,
}: {
  endpoints: EndpointStore
  deliveries: DeliveryStore
  parked: ParkedStore
  clock: Clock
}) {
  /** The due time of the delivery that is longest overdue, whether a breaker or busy workers hold it back. */
  async function oldestDueAt(): Promise<Date | null> {
    const waiting = await endpoints.waiting(waitingEndpointsMax)
    const firsts = await mapBounded(waiting, lookupsAtOnce, (id) => deliveries.firstDueAt(id))
    const nowMs = clock.now().getTime()
    const overdueMs = firsts.flatMap((at) => (at !== null && at.getTime() <= nowMs ? [at.getTime()] : []))
    return overdueMs.length === 0 ? null : new Date(Math.min(...overdueMs))
  }

  /** The backlog of all accounts, for operations. */
  return async function readStatus() {
    const [counts, oldest, parkedCount, pausedEndpoints] = await Promise.all([
      deliveries.statusCounts(),
      oldestDueAt(),
      parked.count(),
      endpoints.countPaused(),
    ])
    return { ...counts, oldestDueAt: oldest, parked: parkedCount, pausedEndpoints }
  }
}
