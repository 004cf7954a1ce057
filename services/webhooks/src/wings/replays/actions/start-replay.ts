import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import type { createReplay } from '@pitboss/contracts/endpoints/webhooks'
import type { EventType } from '@pitboss/contracts/objects/event'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { hashBody } from '@pitboss/contracts/json'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { claimIdempotencyKey, peekIdempotencyKey } from '@pitboss/storage/idempotency-keys'
import type { EndpointDocument } from '../../../storage/collections.ts'
import { type CountedReplay, presentReplay, type ReplaysContext, withCounts } from './read-replays.ts'
import type { ReplayDocument } from '../storage/replay-store.ts'
import { countSelection } from './advance-replays.ts'
import type { z } from 'zod'

/** No `types` stand for those of the endpoint. A dry run counts and makes nothing. */
type ReplayRequest = {
  readonly from: string
  readonly to: string
  readonly types: readonly EventType[]
  readonly only: ReplayDocument['only']
  readonly dryRun: boolean
}
type ReplayKey = Parameters<typeof peekIdempotencyKey>[0]

async function begin(
  c: ReplaysContext,
  endpoint: EndpointDocument,
  request: ReplayRequest,
  key: ReplayKey | null,
  by: ActedBy,
): Promise<CountedReplay> {
  const { events, replays, replaysMax } = c
  const { operatorId, environment } = endpoint
  const [from, to] = [new Date(request.from), new Date(request.to)]
  if (from > to) throw invalidField('from', 'must not be after to')
  if (!request.dryRun && endpoint.health.status === 'PAUSED') {
    throw new ServiceError('CONFLICT', { message: 'The endpoint is paused. Resume it first.' })
  }
  const types = [...new Set(request.types.length > 0 ? request.types : endpoint.events)]
  const scope = { operatorId, environment }
  const selector = {
    ...{ ...scope, _id: null, webhookId: endpoint._id, from, to, types, only: request.only },
    endSeq: await events.endOf(scope),
  }
  const matched = await countSelection(c, selector)
  const counted = {
    ...{ ...selector, matched, created: 0, delivered: 0, failed: 0 },
    ...{ createdAt: c.clock.now(), finishedAt: null },
  }
  if (request.dryRun) return { ...counted, status: 'PREVIEW' }
  if ((await replays.countRunning(scope, replaysMax)) >= replaysMax) {
    throw new ServiceError('CONFLICT', {
      message: `An account has at most ${replaysMax} running replays; cancel one, or wait for its end.`,
    })
  }
  const newId = () => c.newId('rpl')
  const job: ReplayDocument = {
    ...counted,
    _id: key === null ? newId() : (await claimIdempotencyKey({ ...key, newId })).objectId,
    ...{ status: 'RUNNING', doneSeq: await events.seqBefore(scope, from), selected: false },
  }
  const object = { type: 'endpoint', id: endpoint._id }
  const entry = c.audit.entry(by, { act: 'endpoint.replay', object, before: null, after: presentReplay(job) })
  const first = await replays.insert({ ...job, ...auditedInsert(entry) })
  c.wake()
  return withCounts(c, first)
}

/**
 * Starts a job, or counts what one would send: once under its idempotency key, which stands for `body`. Each
 * endpoint has a list of keys; a preview has none. Source: docs/contract.md, sections 7, 11 and 12.
 * @throws ServiceError CONFLICT for a paused endpoint, an account with all its replays under way, a used key
 */
export async function startReplay(
  c: ReplaysContext,
  endpoint: EndpointDocument,
  idempotencyKey: string | null,
  body: z.output<typeof createReplay.call.request>['body'],
  by: ActedBy,
): Promise<CountedReplay> {
  const { from, to, only, types = [], dry_run: dryRun } = body
  const { operatorId, environment, _id } = endpoint
  const names = { db: c.db, scope: { operatorId, environment }, list: `replays/${_id}` }
  const key =
    idempotencyKey === null || dryRun
      ? null
      : { ...names, key: idempotencyKey, bodyHash: hashBody(body), now: c.clock.now() }
  const earlierId = key === null ? null : await peekIdempotencyKey(key)
  const earlier = earlierId === null ? null : await c.replays.find(endpoint, _id, earlierId)
  if (earlier !== null) return withCounts(c, earlier)
  return begin(c, endpoint, { from, to, types, only, dryRun }, key, by)
}

/** For operations: `startReplay` at any account's endpoint. @throws ServiceError NOT_FOUND */
export async function startReplayAnywhere(
  c: ReplaysContext,
  order: OpsOrder,
  { webhookId, from, to, only }: Pick<ReplayRequest, 'from' | 'to' | 'only'> & { webhookId: string },
  requestId: string,
): Promise<CountedReplay> {
  const endpoint = await c.endpoints.read(webhookId)
  if (endpoint === null || endpoint.deletedAt !== null) {
    throw new ServiceError('NOT_FOUND', { message: `There is no endpoint ${webhookId}.` })
  }
  for (const [field, text] of Object.entries({ from, to })) {
    if (Number.isNaN(Date.parse(text))) throw invalidField(field, 'must be an ISO 8601 time')
  }
  const by = orderedBy(order, endpoint.operatorId, requestId)
  const job = await begin(c, endpoint, { from, to, types: [], only, dryRun: order.dryRun }, null, by)
  c.logger.info({ by: order.by, reason: order.reason, replay_id: job._id }, 'ops.replay-started')
  return job
}
