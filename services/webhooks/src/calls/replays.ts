import { handler, type CallHandler } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { Db } from 'mongodb'
import type { z } from 'zod'
import { cancelReplay, createReplay, getReplay, listReplays } from '@pitboss/contracts/endpoints/webhooks'
import type { EventType } from '@pitboss/contracts/objects/event'
import { replayJobSchema } from '@pitboss/contracts/objects/webhook-endpoint'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { claimIdempotencyKey, hashBody, peekIdempotencyKey } from '@pitboss/storage/idempotency-keys'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import type { EndpointDocument, ReplayDocument } from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { EventStore } from '../storage/event-store.ts'
import type { ReplayStore } from '../storage/replay-store.ts'
import { countSelection } from '../actions/replay-selection.ts'
import { replayCounts } from '../workers/replay-worker.ts'
import { findEndpoint } from './endpoints.ts'
import { instantText } from '../records/views.ts'

export type ReplaysDeps = {
  db: Db
  endpoints: EndpointStore
  events: EventStore
  deliveries: DeliveryStore
  replays: ReplayStore
  cursors: CursorCodec
  clock: Clock
  newId: (prefix: string) => string
  ringReplays: () => void
}

type ReplayKey = Parameters<typeof peekIdempotencyKey>[0]
export type ReplayJob = z.infer<typeof replayJobSchema>

export type ReplayRequest = {
  readonly from: string
  readonly to: string
  readonly types: readonly EventType[]
  readonly only: ReplayDocument['only']
  readonly dryRun: boolean
}

/** Replay jobs. Source: contract sections 7, 11 and 12. */
export function replayHandlers(deps: ReplaysDeps): CallHandler[] {
  const { endpoints, deliveries, replays, cursors, clock } = deps
  return [
    handler(createReplay.call, async ({ caller, params, query, body }) => {
      const endpoint = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      const request = { ...body, types: body.types ?? [], dryRun: body.dry_run }
      const key = keyOf(deps, caller, endpoint, body)
      const earlierId = key === null ? null : await peekIdempotencyKey(key)
      const earlier = earlierId === null ? null : await replays.find(endpoint, endpoint._id, earlierId)
      if (earlier !== null) return { status: 202, body: await replayView(deliveries, earlier) }
      return {
        status: body.dry_run ? 200 : 202,
        body: await beginReplay(deps, endpoint, request, key),
      }
    }),

    handler(listReplays.call, async ({ caller, params, query }) => {
      const endpoint = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      const binding = ['replays', endpoint._id]
      const before = query.cursor === undefined ? null : cursors.decode(binding, query.cursor)
      if (before !== null && typeof before !== 'string') throw invalidField('cursor', 'is damaged')
      const found = await replays.list(endpoint, endpoint._id, before, query.limit + 1)
      const page = found.slice(0, query.limit)
      const last = page.at(-1)
      const more = found.length > query.limit && last !== undefined
      return {
        status: 200,
        body: {
          data: await Promise.all(page.map((job) => replayView(deliveries, job))),
          next_cursor: more ? cursors.encode(binding, last._id) : null,
        },
      }
    }),

    handler(getReplay.call, async ({ caller, params, query }) => {
      const endpoint = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      const job = await replays.find(endpoint, endpoint._id, params.replay_id)
      if (job === null) throw new ServiceError('NOT_FOUND')
      return { status: 200, body: await replayView(deliveries, job) }
    }),

    handler(cancelReplay.call, async ({ caller, params, query }) => {
      const endpoint = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      const job = await replays.find(endpoint, endpoint._id, params.replay_id)
      if (job === null) throw new ServiceError('NOT_FOUND')
      const { open: _, ...counts } = await replayCounts(deliveries, job)
      const cancelled = await replays.change(job, job._id, {
        ...counts,
        status: 'CANCELLED',
        finishedAt: clock.now(),
        counted: false,
      })
      if (cancelled === null) throw new ServiceError('CONFLICT', { message: 'The replay has ended already.' })
      await failpoint('webhooks.replay-cancelled')
      await deliveries.cancelReplay(job._id)
      deps.ringReplays()
      return { status: 200, body: await replayView(deliveries, cancelled) }
    }),
  ]
}

/**
 * The key under which a job is asked for, among those of its endpoint; null for none. A preview makes nothing
 * and has none.
 */
function keyOf(
  { db, clock }: ReplaysDeps,
  { idempotencyKey: key }: Caller,
  endpoint: EndpointDocument,
  body: { dry_run: boolean },
): ReplayKey | null {
  if (key === null || body.dry_run) return null
  const { operatorId, environment, _id } = endpoint
  const scope = { operatorId, environment }
  return { db, scope, list: `replays/${_id}`, key, bodyHash: hashBody(body), now: clock.now() }
}

/**
 * Counts what a replay selects and, unless it is a dry run, starts it, once under its key. @throws
 * ServiceError CONFLICT for a paused endpoint, and for a key that was used with another body.
 */
export async function beginReplay(
  deps: ReplaysDeps,
  endpoint: EndpointDocument,
  request: ReplayRequest,
  key: ReplayKey | null,
): Promise<ReplayJob> {
  const { events, deliveries, replays, clock } = deps
  const { operatorId, environment } = endpoint
  const from = new Date(request.from)
  const to = new Date(request.to)
  if (from > to) throw invalidField('from', 'must not be after to')
  if (!request.dryRun && endpoint.health.status === 'PAUSED') {
    throw new ServiceError('CONFLICT', { message: 'The endpoint is paused. Resume it first.' })
  }
  const types = request.types.length > 0 ? [...new Set(request.types)] : endpoint.events
  const scope = { operatorId, environment }
  const selector = {
    ...scope,
    _id: null,
    webhookId: endpoint._id,
    from,
    to,
    types,
    only: request.only,
    endSeq: await events.lastSeq(scope),
  }
  const matched = await countSelection({ events, deliveries }, selector)
  const now = clock.now()
  const counts = { matched, created: 0, delivered: 0, failed: 0 }
  if (request.dryRun) {
    return {
      replay_id: null,
      webhook_id: endpoint._id,
      status: 'PREVIEW',
      from: from.toISOString(),
      to: to.toISOString(),
      types,
      only: request.only,
      ...counts,
      created_at: now.toISOString(),
      finished_at: null,
    }
  }
  const newId = () => deps.newId('rpl')
  const job: ReplayDocument = {
    ...selector,
    ...counts,
    _id: key === null ? newId() : (await claimIdempotencyKey({ ...key, newId })).objectId,
    status: 'RUNNING',
    doneSeq: await events.seqBefore(scope, from),
    selected: false,
    createdAt: now,
    finishedAt: null,
  }
  const first = await replays.insert(job)
  deps.ringReplays()
  return replayView(deliveries, first)
}

/** The public record; a job of which anything may still end is counted afresh. */
export async function replayView(deliveries: DeliveryStore, job: ReplayDocument): Promise<ReplayJob> {
  const counting = job.status === 'RUNNING' || job.counted === false
  const { created, delivered, failed } = counting ? await replayCounts(deliveries, job) : job
  return {
    replay_id: job._id,
    webhook_id: job.webhookId,
    status: job.status,
    from: job.from.toISOString(),
    to: job.to.toISOString(),
    types: job.types,
    only: job.only,
    matched: job.matched,
    created,
    delivered,
    failed,
    created_at: job.createdAt.toISOString(),
    finished_at: instantText(job.finishedAt),
  }
}
