import { failpoint } from '@pitboss/runtime/failpoint'
import { type FreshDelivery, toFresh } from '../clients/notify-workers.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import { type NewDelivery, newClaimed } from '../storage/new-delivery.ts'
import type { EndpointLease, EndpointTarget } from '../storage/endpoint-store.ts'
import type { Deps } from './deps.ts'
import { createRecoverOrphans } from './settle-attempt.ts'

/*
 * A new delivery whose endpoint is under the lease of this very process needs neither a notification nor a
 * claim of its own. Its runner takes a slot first, so the delivery is inserted already claimed, with the
 * number of its first attempt; and the attempt begins once the lease was seen in the database after the
 * insert. A later holder of the lease therefore finds the delivery, and recovers it when this process has
 * died.
 */

export type { EndpointTarget, NewDelivery }

/** Deliveries in flight under the lease with this token, yet to be stored. */
export function claimBeforehand(fresh: readonly NewDelivery[], token: number, now: Date): DueDelivery[] {
  return fresh.map((one) => newClaimed(one, token, now))
}

/** What a runner has set aside for new deliveries of its endpoint. `end` is always called, last. */
export type Reservation = {
  readonly webhookId: string
  /** Those to be stored claimed; the others of the endpoint wait. */
  readonly claimed: readonly DueDelivery[]
  /**
   * Makes the attempts at those that this process has stored.
   * @param endpoint as it was read after that
   * @returns false when the lease is lost, and no attempt is made
   */
  send(
    endpoint: EndpointDocument | null,
    stored: ReadonlySet<string>,
    bodyOf: (delivery: DueDelivery) => string | null,
  ): boolean
  /**
   * Hands over those that wait, without a notification.
   * @param lease as it was read after they were stored
   * @returns false when the runner must be told like any other
   */
  add(lease: EndpointLease | null, waiting: readonly FreshDelivery[]): boolean
  /** Ends it; claimed ones that were not sent may be stored, and are left to the next holder of the lease. */
  end(): void
}

/** Asks the workers of this process for room; endpoints without a reservation are those of others. */
export type Reserve = (
  fresh: readonly NewDelivery[],
  targets: readonly EndpointTarget[],
  now: Date,
) => readonly Reservation[]

/**
 * Creates the deliveries of new events and has those sent that can be.
 * @returns the deliveries of which the workers must be told
 * @throws what the database throws; all of them must then be looked for again
 */
export type CreateDeliveries = (
  fresh: readonly NewDelivery[],
  targets: readonly EndpointTarget[],
  bodyOf: (delivery: Pick<DueDelivery, 'eventId'>) => string | null,
) => Promise<readonly NewDelivery[]>

/**
 * Tells the workers of deliveries that were just stored and whose endpoints' runners do not know them.
 * @param alsoOf endpoints with older deliveries that wait, and of which nobody may know
 */
export async function announceDeliveries(
  { endpoints, notifyWorkers, clock }: Pick<Deps, 'endpoints' | 'notifyWorkers' | 'clock'>,
  untold: readonly NewDelivery[],
  alsoOf: readonly string[] = [],
): Promise<void> {
  const dueIds = [...new Set([...untold.map(({ webhookId }) => webhookId), ...alsoOf])]
  notifyWorkers(dueIds, alsoOf.length === 0 ? untold : [])
  await endpoints.lowerDue(dueIds, clock.now())
}

export function createCreateDeliveries(
  deps: Pick<Deps, 'endpoints' | 'deliveries' | 'clock' | 'scaleMs' | 'random'> & { reserve: Reserve },
): CreateDeliveries {
  const { endpoints, deliveries, clock, reserve } = deps
  const recoverOrphans = createRecoverOrphans(deps)

  return async function createDeliveries(fresh, targets, bodyOf) {
    const reservations = reserve(fresh, targets, clock.now())
    try {
      const claimed = reservations.flatMap((one) => one.claimed)
      const stored = await deliveries.createClaimed(claimed)
      await failpoint('webhooks.created-claimed')
      const sent = await sendAll(reservations, stored, bodyOf)
      const waiting = fresh.filter(({ _id }) => !stored.has(_id))
      await deliveries.create(waiting)
      const added = await addAll(reservations, waiting)
      return fresh.filter(({ _id, webhookId }) =>
        stored.has(_id) ? !sent.has(webhookId) : !added.has(webhookId),
      )
    } finally {
      for (const one of reservations) one.end()
    }
  }

  /** @returns the endpoints whose lease this process holds still */
  async function sendAll(
    reservations: readonly Reservation[],
    stored: ReadonlySet<string>,
    bodyOf: (delivery: DueDelivery) => string | null,
  ): Promise<Set<string>> {
    const claiming = reservations.filter(({ claimed }) => claimed.length > 0)
    if (claiming.length === 0) return new Set()
    const now = await endpoints.readMany(claiming.map(({ webhookId }) => webhookId))
    const mine = new Set<string>()
    for (const one of claiming) {
      const endpoint = now.get(one.webhookId) ?? null
      if (one.send(endpoint, stored, bodyOf)) mine.add(one.webhookId)
      else if (endpoint !== null) await recoverOrphans(endpoint._id, endpoint.leaseToken)
    }
    return mine
  }

  /** @returns the endpoints whose runners know what waits */
  async function addAll(
    reservations: readonly Reservation[],
    waiting: readonly NewDelivery[],
  ): Promise<Set<string>> {
    const byEndpoint = Map.groupBy(waiting, ({ webhookId }) => webhookId)
    const adding = reservations.filter(({ webhookId }) => byEndpoint.has(webhookId))
    if (adding.length === 0) return new Set()
    const leases = await endpoints.leases(adding.map(({ webhookId }) => webhookId))
    return new Set(
      adding.flatMap((one) => {
        const group = byEndpoint.get(one.webhookId) ?? []
        return one.add(leases.get(one.webhookId) ?? null, group.flatMap(toFresh)) ? [one.webhookId] : []
      }),
    )
  }
}
