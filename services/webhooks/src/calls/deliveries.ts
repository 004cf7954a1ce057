import { handler, type CallHandler } from '@pitboss/bus/serve-calls'
import type { Scope } from '@pitboss/contracts/caller'
import {
  dashboardGetDelivery,
  dashboardListDeliveries,
  dashboardRetryDelivery,
  listDeliveries,
  retryDelivery,
} from '@pitboss/contracts/endpoints/webhooks'
import { deliveryId } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Filter } from 'mongodb'
import { waitingFor } from '../rules/waiting-for.ts'
import { orderOf } from '../storage/delivery-queue.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import type { DeliveryDocument } from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import { defaultWindowMs, idScopes, queryScope } from './events.ts'
import { attemptsEnded, attemptView, deliveryView } from '../records/views.ts'

export type DeliveriesDeps = {
  endpoints: EndpointStore
  deliveries: DeliveryStore
  cursors: CursorCodec
  clock: Clock
  wake: (webhookIds: readonly string[]) => void
}

type DeliveryQuery = {
  webhook_id?: string | undefined
  status?: DeliveryDocument['status'] | undefined
  event_type?: DeliveryDocument['eventType'] | undefined
  event_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Deliveries, in the dashboard and for api keys. Source: contract sections 7 and 11. */
export function deliveryHandlers(deps: DeliveriesDeps): CallHandler[] {
  return [
    handler(listDeliveries.call, async ({ caller, query }) => listPage(deps, caller.scope, query)),
    handler(dashboardListDeliveries.call, async ({ caller, query }) =>
      listPage(deps, queryScope(caller, query.environment), query),
    ),
    handler(dashboardGetDelivery.call, async ({ caller, params, query }) => {
      const delivery = await findDelivery(deps, idScopes(caller, query.environment), params.delivery_id)
      return { status: 200, body: await detailView(deps, delivery) }
    }),
    handler(retryDelivery.call, async ({ caller, params }) => {
      const delivery = await findDelivery(deps, [caller.scope], params.delivery_id)
      return { status: 202, body: deliveryView(await retry(deps, delivery)) }
    }),
    handler(dashboardRetryDelivery.call, async ({ caller, params, query }) => {
      const delivery = await findDelivery(deps, idScopes(caller, query.environment), params.delivery_id)
      return { status: 202, body: deliveryView(await retry(deps, delivery)) }
    }),
  ]
}

/** A delivery with its attempts and why it has not gone out yet. */
export async function detailView(
  { endpoints, deliveries, clock }: DeliveriesDeps,
  delivery: DeliveryDocument,
) {
  return {
    ...deliveryView(delivery),
    attempts: delivery.attempts.map(attemptView),
    waiting_for: await explain(),
  }

  async function explain(): Promise<string | null> {
    if (delivery.status !== 'PENDING' && delivery.status !== 'HELD') return null
    const now = clock.now()
    const endpoint = await endpoints.known(delivery, delivery.webhookId)
    if (endpoint === null) return null
    const open = endpoint.health.breaker.probeAt !== null
    const [inFlight, probe] = await Promise.all([
      deliveries.inFlight(delivery.webhookId),
      open ? deliveries.oldestDue(delivery.webhookId, now) : null,
    ])
    const last = delivery.attempts.at(-1)
    return waitingFor({
      delivery: {
        status: delivery.status,
        lane: delivery.lane,
        underWaySince: delivery.claimToken > 0 ? delivery.claimedAt : null,
        dueAt: delivery.nextAttemptAt,
        attemptsMade: attemptsEnded(delivery),
        lastError: last?.error ?? null,
      },
      health: endpoint.health,
      inFlight: inFlight.all,
      replayInFlight: inFlight.replay,
      probing: probe?.eventId ?? null,
      now,
    })
  }
}

/**
 * A pending delivery is pulled forward, beside its schedule; one that has ended is sent once more with the
 * next attempt number.
 * @throws ServiceError CONFLICT while its endpoint is paused (a test goes there too) or when that is deleted.
 */
export async function retry(
  { endpoints, deliveries, clock, wake }: DeliveriesDeps,
  delivery: DeliveryDocument,
): Promise<DeliveryDocument> {
  const endpoint = await endpoints.known(delivery, delivery.webhookId)
  if (endpoint === null || endpoint.deletedAt !== null) {
    throw new ServiceError('CONFLICT', { message: 'The endpoint of this delivery is deleted.' })
  }
  if (endpoint.health.status === 'PAUSED' && delivery.eventType !== 'webhook.test') {
    throw new ServiceError('CONFLICT', { message: 'The endpoint is paused. Resume it first.' })
  }
  const now = clock.now()
  const again =
    delivery.status === 'PENDING' || delivery.status === 'HELD'
      ? await deliveries.pullForward(delivery, delivery, now)
      : await deliveries.reopen(delivery, delivery, now)
  await endpoints.lowerDue([delivery.webhookId], now)
  wake([delivery.webhookId])
  if (again !== null) return again
  // It is being sent at this moment, or just was, which is what was asked for.
  return (await deliveries.find(delivery, delivery._id)) ?? delivery
}

async function findDelivery(
  { deliveries }: DeliveriesDeps,
  scopes: readonly Scope[],
  id: string,
): Promise<DeliveryDocument> {
  if (deliveryId.safeParse(id).success) {
    for (const scope of scopes) {
      const delivery = await deliveries.find(scope, id)
      if (delivery !== null) return delivery
    }
  }
  throw new ServiceError('NOT_FOUND')
}

async function listPage({ deliveries, cursors }: DeliveriesDeps, scope: Scope, query: DeliveryQuery) {
  const { webhook_id, status, event_type, event_id } = query
  const binding = [
    'deliveries',
    scope.operatorId,
    scope.environment,
    { webhook_id, status, event_type, event_id, from: query.from, to: query.to },
  ]
  const before = query.cursor === undefined ? null : readBefore(cursors.decode(binding, query.cursor))
  const filter: Filter<DeliveryDocument> = {
    ...(webhook_id === undefined ? {} : { webhookId: webhook_id }),
    ...(status === undefined ? {} : { status }),
    ...(event_type === undefined ? {} : { eventType: event_type }),
    ...(event_id === undefined ? {} : { eventId: event_id }),
    ...orderBounds(query.from, query.to, before),
  }
  const found = await deliveries.list(scope, filter, query.limit + 1)
  const page = found.slice(0, query.limit)
  const last = page.at(-1)
  const more = found.length > query.limit && last !== undefined
  return {
    status: 200,
    body: {
      data: page.map(deliveryView),
      next_cursor: more ? cursors.encode(binding, last.order) : null,
    },
  }
}

/** The window of creation times as a range of the one text that orders deliveries. */
function orderBounds(from: string | undefined, to: string | undefined, before: string | null) {
  const end = to === undefined ? null : new Date(to)
  const start =
    from === undefined ? (end === null ? null : new Date(end.getTime() - defaultWindowMs)) : new Date(from)
  const lower = start === null ? null : orderOf(start, '')
  const upper = end === null ? null : orderOf(new Date(end.getTime() + 1), '')
  const bounds = {
    ...(lower === null ? {} : { $gte: lower }),
    ...(before !== null ? { $lt: before } : upper === null ? {} : { $lt: upper }),
  }
  return Object.keys(bounds).length === 0 ? {} : { order: bounds }
}

function readBefore(value: unknown): string {
  if (typeof value !== 'string') throw invalidField('cursor', 'is damaged or belongs to another list')
  return value
}
