import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import type { ReplayDocument } from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { ReplayStore } from '../storage/replay-store.ts'
import { type EndpointTarget, findEndpoint } from './read-endpoints.ts'
import { countReplay, withCounts } from './read-replays.ts'

export type CancelReplay = ReturnType<typeof createCancelReplay>

/** @param notifyReplayWorker has the worker count what was in flight */
export function createCancelReplay({
  endpoints,
  deliveries,
  replays,
  clock,
  notifyReplayWorker,
}: {
  endpoints: EndpointStore
  deliveries: DeliveryStore
  replays: ReplayStore
  clock: Clock
  notifyReplayWorker: () => void
}) {
  /**
   * Ends a job and cancels its deliveries, but for those in flight. After a crash in between, the replay
   * worker cancels them.
   * @throws ServiceError NOT_FOUND; CONFLICT when the job has ended
   */
  return async function cancelReplay(target: EndpointTarget, id: string): Promise<ReplayDocument> {
    const endpoint = await findEndpoint(endpoints, target)
    const job = await replays.find(endpoint, endpoint._id, id)
    if (job === null) throw new ServiceError('NOT_FOUND')
    const { open: _, ...counts } = await countReplay(deliveries, job)
    const cancelled = await replays.change(job, job._id, {
      ...counts,
      status: 'CANCELLED',
      finishedAt: clock.now(),
      counted: false,
    })
    if (cancelled === null) throw new ServiceError('CONFLICT', { message: 'The replay has ended already.' })
    await failpoint('webhooks.replay-cancelled')
    await deliveries.cancelReplay(job._id)
    notifyReplayWorker()
    return withCounts(deliveries, cancelled)
  }
}
