import type { Scope } from '@pitboss/contracts/caller'
import type { listDeliveries } from '@pitboss/contracts/endpoints/webhooks'
import { deliveryId } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { readPage } from '@pitboss/storage/read-page'
import { z } from 'zod'
import { attemptsEnded } from '../records/webhook-records.ts'
import { inFlightMaxOf } from '../rules/endpoint-health.ts'
import { waitingFor } from '../rules/choose-due.ts'
import type { DeliveryFilter, DeliveryStore } from '../storage/delivery-store.ts'
import type { DeliveryDocument } from '../storage/collections.ts'
import { windowStart } from './read-events.ts'
import type { Deps } from './deps.ts'

export type DeliveryQuery = z.output<typeof listDeliveries.query>

/** Reads deliveries. Source: docs/contract.md, sections 7, 10 and 11. */
export function createReadDeliveries({ endpoints, deliveries, cursors, clock }: Deps) {
  /** Says in plain words why a delivery is not sent yet; null when it has ended. */
  async function explainWaiting(delivery: DeliveryDocument): Promise<string | null> {
    if (delivery.status !== 'PENDING' && delivery.status !== 'HELD') return null
    const now = clock.now()
    const endpoint = await endpoints.known(delivery, delivery.webhookId)
    if (endpoint === null) return null
    const { health } = endpoint
    const isOpen = health.breaker.probeAt !== null
    const paceNow = Math.min(health.pace.inFlight, inFlightMaxOf(endpoint))
    const [inFlight, probe] = await Promise.all([
      deliveries.inFlight(delivery.webhookId),
      isOpen ? deliveries.oldestDue(delivery.webhookId, now) : null,
    ])
    return waitingFor({
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
    waitingFor: await explainWaiting(delivery),
  })

  return {
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
        read: (before, limit) => deliveries.list(scope, { ...filter, before }, limit),
        positionOf: ({ order }) => order,
      })
    },

    /** A delivery and why it waits. @throws ServiceError NOT_FOUND as `findDelivery` does */
    show: async (scopes: readonly Scope[], id: string) =>
      explained(await findDelivery(deliveries, scopes, id)),

    /** For operations: the newest of every account. */
    listAnywhere: (filter: DeliveryFilter, limit: number) => deliveries.listAnywhere(filter, limit),

    /** For operations: `show`, of every account. */
    showAnywhere: async (id: string) => explained(await findDeliveryAnywhere(deliveries, id)),
  }
}

/** @throws ServiceError NOT_FOUND for an unknown, foreign or malformed id */
export async function findDelivery(
  deliveries: DeliveryStore,
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

/** For operations: a delivery of any account. @throws ServiceError NOT_FOUND */
export async function findDeliveryAnywhere(deliveries: DeliveryStore, id: string): Promise<DeliveryDocument> {
  const delivery = await deliveries.read(id)
  if (delivery === null) throw new ServiceError('NOT_FOUND', { message: `There is no delivery ${id}.` })
  return delivery
}
