import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import type { listDeliveries as listDeliveriesEndpoint } from '@pitboss/contracts/endpoints/webhooks'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { deliveryId } from '@pitboss/contracts/primitives'
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { readWindow } from '@pitboss/storage/created-within'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { inFlightMaxOf, nextProbe } from '../rules/endpoint-health.ts'
import { type Wait, waitOf } from '../rules/choose-due.ts'
import type { DeliveryDocument, EndpointDocument } from '../storage/collections.ts'
import type { WebhooksContext } from '../context.ts'
import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import { instantText, presentDelivery } from '../records/webhook-records.ts'
import { countedElsewhere } from '../storage/range-items.ts'
import { markDue } from '../clients/notify-workers.ts'

type DeliveriesQuery = z.output<typeof listDeliveriesEndpoint.query>

const dayMs = 24 * 60 * 60 * 1000
const waitsAtOnce = 8

/* Reads of deliveries. Source: docs/contract.md, sections 7, 10 and 11. */

/** Explains why a delivery is not sent yet; null when it has ended. */
export async function explainWait(c: WebhooksContext, delivery: DeliveryDocument): Promise<Wait | null> {
  if (delivery.status !== 'PENDING' && delivery.status !== 'HELD') return null
  const now = c.clock.now()
  const endpoint = await c.endpoints.known(delivery, delivery.webhookId)
  if (endpoint === null) return null
  const { health } = endpoint
  const isOpen = health.breaker.probeAt !== null
  const paceNow = Math.min(health.pace.inFlight, inFlightMaxOf(endpoint))
  const found = isOpen ? c.deliveries.probe(delivery.webhookId, nextProbe(health), now) : null
  const [inFlight, probe] = await Promise.all([c.deliveries.inFlight(delivery.webhookId), found])
  return waitOf({
    delivery,
    health: { ...health, pace: { ...health.pace, inFlight: paceNow } },
    ...{ inFlight: inFlight.all, replayInFlight: inFlight.replay, probing: probe?.eventId ?? null, now },
  })
}

export async function deliveriesOfEvents(c: WebhooksContext, scope: Scope, ids: string[], limit: number) {
  const found = await c.history.ofEvents(scope, ids, limit)
  const waits = await mapBounded(found, waitsAtOnce, (delivery) => explainWait(c, delivery))
  return found.map((delivery, index) => ({ delivery, wait: waits[index] ?? null }))
}

/** Reads how an account's deliveries stand. Counts stop at `countedMax`. */
export async function readHealth({ endpoints, history, clock }: WebhooksContext, scope: Scope) {
  const since = new Date(clock.now().getTime() - dayMs)
  const reads = [history.health(scope, since, countedMax), endpoints.list(scope, null, countedMax)] as const
  const [{ oldestPendingAt, hasDelivered: ever_delivered, ...counts }, found] = await Promise.all(reads)
  const where = (isSo: (endpoint: EndpointDocument) => boolean) => found.filter(isSo).map(({ _id }) => _id)
  return {
    ...{ ...counts, endpoints: found.length, ever_delivered },
    oldest_pending_at: instantText(oldestPendingAt),
    paused: where(({ health }) => health.status === 'PAUSED'),
    failing: where(({ health }) => health.status === 'ACTIVE' && health.streak.attempts > 0),
  }
}

/** A page of deliveries, newest first. A `to` without `from` is a window of seven days. */
export function listDeliveries(c: WebhooksContext, scope: Scope, query: DeliveriesQuery) {
  const { webhook_id, status, event_type, event_id, from, to } = query
  const ofEvent = { eventType: event_type, eventId: event_id }
  const filter = { webhookId: webhook_id, status, ...ofEvent, ...readWindow(query) }
  const bound = { webhook_id, status, event_type, event_id, from, to }
  return readPage({
    ...{ cursors: c.cursors, binding: ['deliveries', scope.operatorId, scope.environment, bound], query },
    read: (before, limit) => c.history.list(scope, { ...filter, before }, limit),
    positionOf: ({ order }) => order,
  })
}

/** @throws ServiceError NOT_FOUND for an unknown, foreign or malformed id */
export function findDelivery(c: WebhooksContext, caller: Caller, id: string): Promise<DeliveryDocument> {
  const scopes = deliveryId.safeParse(id).success ? lookupScopes(caller) : []
  return findInScopes(scopes, (scope) => c.history.find(scope, id))
}

/** For operations. @throws ServiceError NOT_FOUND */
export async function findDeliveryAnywhere(c: WebhooksContext, id: string): Promise<DeliveryDocument> {
  const delivery = await c.history.read(id)
  if (delivery === null) throw new ServiceError('NOT_FOUND', { message: `There is no delivery ${id}.` })
  return delivery
}

async function assertMayRetry(c: WebhooksContext, delivery: DeliveryDocument): Promise<void> {
  const endpoint = await c.endpoints.known(delivery, delivery.webhookId)
  if (endpoint === null || endpoint.deletedAt !== null)
    throw conflict('The endpoint of this delivery is deleted.')
  if (endpoint.health.status === 'PAUSED' && delivery.eventType !== 'webhook.test')
    throw conflict('The endpoint is paused. Resume it first.')
}

/** Pulls a pending delivery forward, or sends an ended one once more. @throws ServiceError CONFLICT */
export async function retryDelivery(c: WebhooksContext, delivery: DeliveryDocument, by: ActedBy) {
  await assertMayRetry(c, delivery)
  const now = c.clock.now()
  const before = presentDelivery(delivery)
  const after = { ...before, status: 'PENDING', next_attempt_at: now.toISOString() }
  const object = { type: 'delivery', id: delivery._id }
  const entry = c.audit.entry(by, { act: 'delivery.retry', object, before, after })
  const isWaiting = delivery.status === 'PENDING' || delivery.status === 'HELD'
  // One that was accepted at once is stored as a document of its own first.
  if (delivery.status === 'DELIVERED') await c.deliveries.insertAbsent([countedElsewhere(delivery)])
  const again = isWaiting
    ? await c.deliveries.pullForward(delivery, delivery, now, entry)
    : await c.deliveries.reopen(delivery, delivery, now, entry)
  await markDue(c, delivery.webhookId)
  if (again !== null) return again
  // It is in flight, or was a moment ago. That is what the caller asked for.
  return (await c.history.find(delivery, delivery._id)) ?? delivery
}

/** `retryDelivery` by an order of operations; a dry run checks whether it may be. */
export async function orderRetry(c: WebhooksContext, order: OpsOrder, id: string, requestId: string) {
  const found = await findDeliveryAnywhere(c, id)
  if (order.dryRun) return assertMayRetry(c, found).then(() => found)
  c.logger.info({ by: order.by, reason: order.reason, delivery_id: id }, 'ops.delivery-retried')
  return retryDelivery(c, found, orderedBy(order, found.operatorId, requestId))
}
