import type { ActedBy } from '@pitboss/contracts/audit'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { WebhooksContext } from '../../../context.ts'
import { instantText } from '../../../records/webhook-records.ts'
import type { EndpointDocument } from '../../../storage/collections.ts'
import type { ReplayDocument, ReplayStore } from '../storage/replay-store.ts'

export type ReplaysContext = WebhooksContext & {
  /** Most replays of an account under way at once. */
  readonly replaysMax: number
  readonly replays: ReplayStore
  /** Has the jobs advanced at once, when they are advanced here. */
  readonly wake: () => void
}

/* Replay jobs with their counts of now. Source: docs/contract.md, sections 7, 10 and 11. */

export async function listReplays(c: ReplaysContext, endpoint: EndpointDocument, query: PageQuery) {
  const { items, nextCursor } = await readPage({
    ...{ cursors: c.cursors, binding: ['replays', endpoint._id], query },
    read: (before, limit) => c.replays.list(endpoint, endpoint._id, before, limit),
    positionOf: ({ _id }) => _id,
  })
  return { items: await Promise.all(items.map((job) => withCounts(c, job))), nextCursor }
}

/** For operations. @throws ServiceError NOT_FOUND */
export async function findReplayAnywhere(c: ReplaysContext, id: string): Promise<ReplayDocument> {
  const job = await c.replays.read(id)
  if (job === null) throw new ServiceError('NOT_FOUND', { message: `There is no replay ${id}.` })
  return withCounts(c, job)
}

/** The job with its counts of now, as long as any of its deliveries may still end. */
export async function withCounts(c: ReplaysContext, job: ReplayDocument): Promise<ReplayDocument> {
  if (job.status !== 'RUNNING' && job.counted !== false) return job
  const { open: _, ...counts } = await countReplay(c, job)
  return { ...job, ...counts }
}

/** Counts a job's deliveries. A later job may have taken some over, so the counts never fall. */
export async function countReplay({ deliveries }: ReplaysContext, job: ReplayDocument) {
  const { open, created, delivered, failed } = await deliveries.countReplay(job._id)
  return {
    created: Math.max(job.created, created),
    delivered: Math.max(job.delivered, delivered),
    failed: Math.max(job.failed, failed),
    open,
  }
}

/** After a crash, the worker cancels its deliveries. Those in flight go on. @throws ServiceError CONFLICT */
export async function cancelReplay(c: ReplaysContext, job: ReplayDocument, by: ActedBy) {
  const { open: _, ...counts } = await countReplay(c, job)
  const fields = { ...counts, status: 'CANCELLED' as const, finishedAt: c.clock.now(), counted: false }
  const object = { type: 'replay', id: job._id }
  const [before, after] = [presentReplay({ ...job, ...counts }), presentReplay({ ...job, ...fields })]
  const entry = c.audit.entry(by, { act: 'replay.cancel', object, before, after })
  const cancelled = await c.replays.change(job, job._id, fields, entry)
  if (cancelled === null) throw new ServiceError('CONFLICT', { message: 'The replay has ended already.' })
  await failpoint('webhooks.replay-cancelled')
  await c.deliveries.cancelReplay(job)
  c.wake()
  return withCounts(c, cancelled)
}

/** A replay as counted just now; a preview has no id and is not stored. */
export type CountedReplay = Omit<ReplayDocument, '_id' | 'status' | 'doneSeq' | 'selected'> & {
  readonly _id: string | null
  readonly status: ReplayDocument['status'] | 'PREVIEW'
}

/** The public record of a replay. Source: docs/contract.md, section 11. */
export function presentReplay(replay: CountedReplay) {
  const { status, types, only, matched, created, delivered, failed } = replay
  const window = { from: replay.from.toISOString(), to: replay.to.toISOString() }
  return {
    ...{ replay_id: replay._id, webhook_id: replay.webhookId, status, ...window, types, only },
    ...{ matched, created, delivered, failed },
    ...{ created_at: replay.createdAt.toISOString(), finished_at: instantText(replay.finishedAt) },
  }
}
