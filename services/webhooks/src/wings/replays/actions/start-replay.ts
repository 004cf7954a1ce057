import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import type { createReplay } from '@pitboss/contracts/endpoints/webhooks'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { hashBody } from '@pitboss/contracts/json'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { claimIdempotencyKey, peekIdempotencyKey } from '@pitboss/storage/idempotency-keys'
import { type EndpointDocument, scopeFields } from '../../../storage/collections.ts'
import { type CountedReplay, presentReplay, type ReplaysContext, withCounts } from './read-replays.ts'
import type { ReplayDocument } from '../storage/replay-store.ts'
import { countSelection } from './advance-replays.ts'
import type { z } from 'zod'

type ReplayBody = z.output<typeof createReplay.call.request>['body']

/** No `types` stand for those of the endpoint. A dry run counts and makes nothing. */
async function begin(
  c: ReplaysContext,
  endpoint: EndpointDocument,
  body: ReplayBody,
  key: Parameters<typeof peekIdempotencyKey>[0] | null,
  by: ActedBy,
): Promise<CountedReplay> {
  const { events, replays, replaysMax } = c
  const { only, types: asked = [], dry_run: isDry } = body
  const [from, to] = [new Date(body.from), new Date(body.to)]
  if (from > to) throw invalidField('from', 'must not be after to')
  if (!isDry && endpoint.health.status === 'PAUSED') {
    throw new ServiceError('CONFLICT', { message: 'The endpoint is paused. Resume it first.' })
  }
  const types = [...new Set(asked.length > 0 ? asked : endpoint.events)]
  const scope = scopeFields(endpoint)
  const endSeq = await events.endOf(scope)
  const selector = { ...scope, _id: null, webhookId: endpoint._id, from, to, types, only, endSeq }
  const matched = await countSelection(c, selector)
  const times = { createdAt: c.clock.now(), finishedAt: null }
  const counted = { ...selector, matched, created: 0, delivered: 0, failed: 0, ...times }
  if (isDry) return { ...counted, status: 'PREVIEW' }
  if ((await replays.countRunning(scope, replaysMax)) >= replaysMax) {
    const message = `An account has at most ${replaysMax} running replays; cancel one, or wait for its end.`
    throw new ServiceError('CONFLICT', { message })
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
  body: ReplayBody,
  by: ActedBy,
): Promise<CountedReplay> {
  const { _id } = endpoint
  const names = { db: c.db, scope: scopeFields(endpoint), list: `replays/${_id}`, now: c.clock.now() }
  const hasKey = idempotencyKey !== null && !body.dry_run
  const key = hasKey ? { ...names, key: idempotencyKey, bodyHash: hashBody(body) } : null
  const earlierId = key === null ? null : await peekIdempotencyKey(key)
  const earlier = earlierId === null ? null : await c.replays.find(endpoint, _id, earlierId)
  if (earlier !== null) return withCounts(c, earlier)
  return begin(c, endpoint, body, key, by)
}

/** For operations: `startReplay` at any account's endpoint. @throws ServiceError NOT_FOUND */
export async function startReplayAnywhere(
  c: ReplaysContext,
  order: OpsOrder,
  { webhookId, from, to, only }: Pick<ReplayBody, 'from' | 'to' | 'only'> & { webhookId: string },
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
  const job = await begin(c, endpoint, { from, to, only, dry_run: order.dryRun }, null, by)
  c.logger.info({ by: order.by, reason: order.reason, replay_id: job._id }, 'ops.replay-started')
  return job
}
