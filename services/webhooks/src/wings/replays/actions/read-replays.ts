import type { ActedBy } from '@pitboss/contracts/audit'
import { ServiceError } from '@pitboss/errors/service-error'
import { readPage } from '@pitboss/storage/read-page'
import { failpoint } from '@pitboss/runtime/failpoint'
import { type EndpointTarget, findEndpoint } from '../../../actions/read-endpoints.ts'
import type { DeliveryStore } from '../../../storage/delivery-store.ts'
import type { ReplaysContext } from '../context.ts'
import { presentReplay } from '../records/present-replay.ts'
import type { ReplayDocument } from '../storage/replay-store.ts'

/* Replay jobs with their counts of now. Source: docs/contract.md, sections 7, 10 and 11. */

async function find({ endpoints, replays }: ReplaysContext, target: EndpointTarget, id: string) {
  const endpoint = await findEndpoint(endpoints, target)
  const job = await replays.find(endpoint, endpoint._id, id)
  if (job === null) throw new ServiceError('NOT_FOUND')
  return job
}

/** Reads a job. @throws ServiceError NOT_FOUND */
export async function findReplay(
  c: ReplaysContext,
  target: EndpointTarget,
  id: string,
): Promise<ReplayDocument> {
  return withCounts(c.deliveries, await find(c, target, id))
}

/** Reads one page of the jobs of an endpoint, newest first. @throws ServiceError NOT_FOUND */
export async function listReplays(
  { endpoints, deliveries, replays, cursors }: ReplaysContext,
  target: EndpointTarget,
  query: { limit: number; cursor?: string | undefined },
) {
  const endpoint = await findEndpoint(endpoints, target)
  const { items, nextCursor } = await readPage({
    ...{ cursors, binding: ['replays', endpoint._id], query },
    read: (before, limit) => replays.list(endpoint, endpoint._id, before, limit),
    positionOf: ({ _id }) => _id,
  })
  return { items: await Promise.all(items.map((job) => withCounts(deliveries, job))), nextCursor }
}

/** Reads a job of any account, for operations. @throws ServiceError NOT_FOUND */
export async function findReplayAnywhere(
  { replays, deliveries }: ReplaysContext,
  id: string,
): Promise<ReplayDocument> {
  const job = await replays.read(id)
  if (job === null) throw new ServiceError('NOT_FOUND', { message: `There is no replay ${id}.` })
  return withCounts(deliveries, job)
}

/** The job with its counts of now, as long as any of its deliveries may still end. */
export async function withCounts(deliveries: DeliveryStore, job: ReplayDocument): Promise<ReplayDocument> {
  if (job.status !== 'RUNNING' && job.counted !== false) return job
  const { open: _, ...counts } = await countReplay(deliveries, job)
  return { ...job, ...counts }
}

/** Counts a job's deliveries. A later job may have taken some over, so the counts never fall. */
export async function countReplay(deliveries: DeliveryStore, job: ReplayDocument) {
  const counts = await deliveries.countReplay(job._id)
  return {
    created: Math.max(job.created, counts.all),
    delivered: Math.max(job.delivered, counts.delivered),
    failed: Math.max(job.failed, counts.failed),
    open: counts.open,
  }
}

/**
 * Ends a job; after a crash, the replay worker cancels its deliveries. Those in flight go on.
 * @throws ServiceError NOT_FOUND; CONFLICT when the job has ended
 */
export async function cancelReplay(
  c: ReplaysContext,
  target: EndpointTarget,
  id: string,
  by: ActedBy,
): Promise<ReplayDocument> {
  const { deliveries, replays, audit, clock, wake } = c
  const job = await find(c, target, id)
  const { open: _, ...counts } = await countReplay(deliveries, job)
  const fields = { ...counts, status: 'CANCELLED' as const, finishedAt: clock.now(), counted: false }
  const object = { type: 'replay', id: job._id }
  const [before, after] = [presentReplay({ ...job, ...counts }), presentReplay({ ...job, ...fields })]
  const entry = audit.entry(by, { act: 'replay.cancel', object, before, after })
  const cancelled = await replays.change(job, job._id, fields, entry)
  if (cancelled === null) throw new ServiceError('CONFLICT', { message: 'The replay has ended already.' })
  await failpoint('webhooks.replay-cancelled')
  await deliveries.cancelReplay(job)
  wake()
  return withCounts(deliveries, cancelled)
}
