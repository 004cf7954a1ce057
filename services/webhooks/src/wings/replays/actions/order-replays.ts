import { scopeOf } from '@pitboss/contracts/caller'
import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import type { createReplay } from '@pitboss/contracts/endpoints/webhooks'
import { conflict, invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Cap } from '@pitboss/runtime/cap'
import { failpoint } from '@pitboss/runtime/failpoint'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { createIdempotencyKeys } from '@pitboss/storage/idempotency-keys'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import type { WebhooksContext } from '../../../context.ts'
import { instantText } from '../../../records/webhook-records.ts'
import type { EndpointDocument } from '../../../storage/collections.ts'
import type { ReplayDocument, ReplayStore } from '../storage/replay-store.ts'
import { countSelection } from './advance-replays.ts'

export type ReplaysContext = WebhooksContext & {
  /** Bounds the running replays of an account. */
  readonly cap: Cap
  readonly replays: ReplayStore
  /** Has the jobs advanced at once, when they are advanced here. */
  readonly wake: () => void
}

type ReplayBody = z.output<typeof createReplay.call.request>['body']

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
  if (cancelled === null) throw conflict('The replay has ended already.')
  await failpoint('webhooks.replay-cancelled')
  await c.deliveries.cancelReplay(job)
  c.wake()
  return withCounts(c, cancelled)
}

/** A replay as counted just now; a preview has no id and is not stored. */
type CountedReplay = Omit<ReplayDocument, '_id' | 'status' | 'doneSeq' | 'selected'> & {
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

/** Each endpoint has a list of keys. */
const creationOf = ({ clock }: ReplaysContext, { _id }: EndpointDocument, body: ReplayBody) => {
  return { list: `replays/${_id}`, body, now: clock.now() }
}

/** No `types` stand for those of the endpoint. A dry run counts and makes nothing. */
async function begin(
  c: ReplaysContext,
  endpoint: EndpointDocument,
  body: ReplayBody,
  idempotencyKey: string | null,
  by: ActedBy,
): Promise<CountedReplay> {
  const { events, replays } = c
  const { only, types: asked = [], dry_run: isDry } = body
  const [from, to] = [new Date(body.from), new Date(body.to)]
  if (from > to) throw invalidField('from', 'must not be after to')
  if (!isDry && endpoint.health.status === 'PAUSED')
    throw conflict('The endpoint is paused. Resume it first.')
  const types = [...new Set(asked.length > 0 ? asked : endpoint.events)]
  const scope = scopeOf(endpoint)
  const endSeq = await events.endOf(scope)
  const selector = { ...scope, _id: null, webhookId: endpoint._id, from, to, types, only, endSeq }
  const matched = await countSelection(c, selector)
  const times = { createdAt: c.clock.now(), finishedAt: null }
  const counted = { ...selector, matched, created: 0, delivered: 0, failed: 0, ...times }
  if (isDry) return { ...counted, status: 'PREVIEW' }
  const creation = { ...creationOf(c, endpoint, body), newId: () => c.newId('rpl') }
  const { objectId: _id, fresh } = await createIdempotencyKeys(c).claim({ scope, idempotencyKey }, creation)
  const doneSeq = await events.seqBefore(scope, from)
  const job: ReplayDocument = { ...counted, _id, status: 'RUNNING', doneSeq, selected: false }
  const object = { type: 'endpoint', id: endpoint._id }
  const entry = c.audit.entry(by, { act: 'endpoint.replay', object, before: null, after: presentReplay(job) })
  const first = await c.cap.make(
    { operatorId: scope.operatorId },
    async () => (fresh ? null : replays.find(endpoint, endpoint._id, _id)),
    () => replays.insert({ ...job, ...auditedInsert(entry) }),
  )
  c.wake()
  return withCounts(c, first)
}

/**
 * Starts a job, or counts what one would send: once under its idempotency key, which stands for `body`. A
 * preview has none. Source: docs/contract.md, sections 7, 11 and 12.
 * @throws ServiceError CONFLICT for a paused endpoint, an account with all its replays under way, a used key
 */
export async function startReplay(
  c: ReplaysContext,
  endpoint: EndpointDocument,
  key: string | null,
  body: ReplayBody,
  by: ActedBy,
) {
  const owner = { scope: scopeOf(endpoint), idempotencyKey: body.dry_run ? null : key }
  const earlierId = await createIdempotencyKeys(c).find(owner, creationOf(c, endpoint, body))
  const earlier = earlierId === null ? null : await c.replays.find(endpoint, endpoint._id, earlierId)
  return earlier === null ? begin(c, endpoint, body, owner.idempotencyKey, by) : withCounts(c, earlier)
}

type OrderedReplay = Pick<ReplayBody, 'from' | 'to' | 'only'> & { readonly webhookId: string }

/** For operations: `startReplay` at any account's endpoint. @throws ServiceError NOT_FOUND */
export async function startReplayAnywhere(
  c: ReplaysContext,
  order: OpsOrder,
  { webhookId, ...window }: OrderedReplay,
  requestId: string,
) {
  const endpoint = await c.endpoints.read(webhookId)
  if (endpoint === null || endpoint.deletedAt !== null)
    throw new ServiceError('NOT_FOUND', { message: `There is no endpoint ${webhookId}.` })
  for (const field of ['from', 'to'] as const)
    if (Number.isNaN(Date.parse(window[field]))) throw invalidField(field, 'must be an ISO 8601 time')
  const by = orderedBy(order, endpoint.operatorId, requestId)
  const job = await begin(c, endpoint, { ...window, dry_run: order.dryRun }, null, by)
  c.logger.info({ by: order.by, reason: order.reason, replay_id: job._id }, 'ops.replay-started')
  return job
}
