import type { Scope } from '@pitboss/contracts/caller'
import type { listDeliveries } from '@pitboss/contracts/endpoints/webhooks'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { deliveryId } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { readPage } from '@pitboss/storage/read-page'
import { z } from 'zod'
import { attemptsEnded } from '../records/webhook-records.ts'
import { inFlightMaxOf, nextProbe } from '../rules/endpoint-health.ts'
import { type Wait, waitOf } from '../rules/choose-due.ts'
import type { DeliveryHistory } from '../storage/delivery-history.ts'
import type { DeliveryFilter } from '../storage/delivery-store.ts'
import type { DeliveryDocument, EndpointDocument } from '../storage/collections.ts'
import { windowStart } from './read-events.ts'
import type { WebhooksContext } from '../context.ts'

const dayMs = 24 * 60 * 60 * 1000
const waitsAtOnce = 8

export type DeliveryQuery = z.output<typeof listDeliveries.query>

/** Reads deliveries. Source: docs/contract.md, sections 7, 10 and 11. */
export function createReadDeliveries({ endpoints, deliveries, history, cursors, clock }: WebhooksContext) {
  /** Says why a delivery is not sent yet; null when it has ended. */
  async function waitFor(delivery: DeliveryDocument): Promise<Wait | null> {
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
      delivery: {
        status: delivery.status,
        lane: delivery.lane,
        underWaySince: delivery.claimToken > 0 ? delivery.claimedAt : null,
        dueAt: delivery.nextAttemptAt,
        attemptsMade: attemptsEnded(delivery),
        lastError: delivery.attempts.at(-1)?.error ?? null,
      },
      health: { ...health, pace: { ...health.pace, inFlight: paceNow } },
      inFlight: inFlight.all,
      replayInFlight: inFlight.replay,
      probing: probe?.eventId ?? null,
      now,
    })
  }

  const explained = async (delivery: DeliveryDocument) => ({
    delivery,
    waitingFor: (await waitFor(delivery))?.words ?? null,
  })

  return {
    /** The deliveries of these events, oldest first, at most `limit`, each with why it waits. */
    async ofEvents(scope: Scope, eventIds: readonly string[], limit: number) {
      const found = await history.ofEvents(scope, eventIds, limit)
      return mapBounded(found, waitsAtOnce, async (delivery) => ({ delivery, wait: await waitFor(delivery) }))
    },

    /** How the deliveries of a scope stand; counts stop at `countedMax`. */
    async health(scope: Scope) {
      const since = new Date(clock.now().getTime() - dayMs)
      const [counts, found] = await Promise.all([
        history.health(scope, since, countedMax),
        endpoints.list(scope, null, countedMax),
      ])
      const where = (isSo: (endpoint: EndpointDocument) => boolean) =>
        found.filter(isSo).map(({ _id }) => _id)
      return {
        ...counts,
        endpoints: found.length,
        paused: where(({ health }) => health.status === 'PAUSED'),
        failing: where(({ health }) => health.status === 'ACTIVE' && health.streak.attempts > 0),
      }
    },

    /**
     * One page of the deliveries of a scope, newest first. A `to` without `from` is a window of seven days.
     */
    list(scope: Scope, query: DeliveryQuery) {
      const { webhook_id, status, event_type, event_id, from, to } = query
      const end = to === undefined ? null : new Date(to)
      const filter = {
        webhookId: webhook_id,
        status,
        eventType: event_type,
        eventId: event_id,
        from: from === undefined && end === null ? null : windowStart(from, end ?? clock.now()),
        to: end,
      }
      return readPage({
        cursors,
        binding: [
          'deliveries',
          scope.operatorId,
          scope.environment,
          { webhook_id, status, event_type, event_id, from, to },
        ],
        query,
        position: z.string(),
        read: (before, limit) => history.list(scope, { ...filter, before }, limit),
        positionOf: ({ order }) => order,
      })
    },

    /** A delivery and why it waits. @throws ServiceError NOT_FOUND as `findDelivery` does */
    show: async (scopes: readonly Scope[], id: string) => explained(await findDelivery(history, scopes, id)),

    /** For operations: the newest of every account. */
    listAnywhere: (filter: DeliveryFilter, limit: number) => history.listAnywhere(filter, limit),

    /** For operations: `show`, of every account. */
    showAnywhere: async (id: string) => explained(await findDeliveryAnywhere(history, id)),
  }
}

/** @throws ServiceError NOT_FOUND for an unknown, foreign or malformed id */
export async function findDelivery(
  history: Pick<DeliveryHistory, 'find'>,
  scopes: readonly Scope[],
  id: string,
): Promise<DeliveryDocument> {
  if (deliveryId.safeParse(id).success) {
    for (const scope of scopes) {
      const delivery = await history.find(scope, id)
      if (delivery !== null) return delivery
    }
  }
  throw new ServiceError('NOT_FOUND')
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
