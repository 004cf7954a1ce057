import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import type { listDeliveries as listDeliveriesEndpoint } from '@pitboss/contracts/endpoints/webhooks'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { deliveryId } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { inFlightMaxOf, nextProbe } from '../rules/endpoint-health.ts'
import { type Wait, waitOf } from '../rules/choose-due.ts'
import type { DeliveryHistory } from '../storage/delivery-history.ts'
import type { DeliveryDocument, EndpointDocument } from '../storage/collections.ts'
import { windowStart } from './read-events.ts'
import type { WebhooksContext } from '../context.ts'

const dayMs = 24 * 60 * 60 * 1000
const waitsAtOnce = 8

type DeliveryQuery = z.output<typeof listDeliveriesEndpoint.query>

/* Reads of deliveries. Source: docs/contract.md, sections 7, 10 and 11. */

/** Explains why a delivery is not sent yet; null when it has ended. */
export async function explainWait(
  { endpoints, deliveries, clock }: WebhooksContext,
  delivery: DeliveryDocument,
): Promise<Wait | null> {
  if (delivery.status !== 'PENDING' && delivery.status !== 'HELD') return null
  const now = clock.now()
  const endpoint = await endpoints.known(delivery, delivery.webhookId)
  if (endpoint === null) return null
  const { health } = endpoint
  const isOpen = health.breaker.probeAt !== null
  const paceNow = Math.min(health.pace.inFlight, inFlightMaxOf(endpoint))
  const [inFlight, probe] = await Promise.all([
    deliveries.inFlight(delivery.webhookId),
    isOpen ? deliveries.probe(delivery.webhookId, nextProbe(health), now) : null,
  ])
  return waitOf({
    delivery,
    health: { ...health, pace: { ...health.pace, inFlight: paceNow } },
    ...{ inFlight: inFlight.all, replayInFlight: inFlight.replay, probing: probe?.eventId ?? null, now },
  })
}

/** Reads the deliveries of these events, oldest first, at most `limit`, each with why it waits. */
export async function deliveriesOfEvents(
  c: WebhooksContext,
  scope: Scope,
  eventIds: readonly string[],
  limit: number,
): Promise<{ delivery: DeliveryDocument; wait: Wait | null }[]> {
  const found = await c.history.ofEvents(scope, eventIds, limit)
  return mapBounded(found, waitsAtOnce, async (delivery) => ({
    delivery,
    wait: await explainWait(c, delivery),
  }))
}

/** Counts how the deliveries of a scope stand; counts stop at `countedMax`. */
export async function readDeliveryHealth({ endpoints, history, clock }: WebhooksContext, scope: Scope) {
  const since = new Date(clock.now().getTime() - dayMs)
  const [counts, found] = await Promise.all([
    history.health(scope, since, countedMax),
    endpoints.list(scope, null, countedMax),
  ])
  const where = (isSo: (endpoint: EndpointDocument) => boolean) => found.filter(isSo).map(({ _id }) => _id)
  return {
    ...counts,
    endpoints: found.length,
    paused: where(({ health }) => health.status === 'PAUSED'),
    failing: where(({ health }) => health.status === 'ACTIVE' && health.streak.attempts > 0),
  }
}

/** A page of deliveries, newest first. A `to` without `from` is a window of seven days. */
export function listDeliveries(
  { history, cursors, clock }: WebhooksContext,
  scope: Scope,
  query: DeliveryQuery,
) {
  const { webhook_id, status, event_type, event_id, from, to } = query
  const end = to === undefined ? null : new Date(to)
  const filter = {
    ...{ webhookId: webhook_id, status, eventType: event_type, eventId: event_id },
    from: from === undefined && end === null ? null : windowStart(from, end ?? clock.now()),
    to: end,
  }
  const bound = { webhook_id, status, event_type, event_id, from, to }
  return readPage({
    ...{ cursors, binding: ['deliveries', scope.operatorId, scope.environment, bound], query },
    read: (before, limit) => history.list(scope, { ...filter, before }, limit),
    positionOf: ({ order }) => order,
  })
}

/** @throws ServiceError NOT_FOUND for an unknown, foreign or malformed id */
export async function findDelivery(
  history: Pick<DeliveryHistory, 'find'>,
  caller: Caller,
  id: string,
): Promise<DeliveryDocument> {
  const scopes = deliveryId.safeParse(id).success ? lookupScopes(caller) : []
  return findInScopes(scopes, (scope) => history.find(scope, id))
}

/** For operations: a delivery of any account. @throws ServiceError NOT_FOUND */
export async function findDeliveryAnywhere(
  history: Pick<DeliveryHistory, 'read'>,
  id: string,
): Promise<DeliveryDocument> {
  const delivery = await history.read(id)
  if (delivery === null) throw new ServiceError('NOT_FOUND', { message: `There is no delivery ${id}.` })
  return delivery
}
