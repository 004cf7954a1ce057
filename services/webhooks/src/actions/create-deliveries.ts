import { failpoint } from '@pitboss/runtime/failpoint'
import { partition } from '@pitboss/runtime/partition'
import { type FreshDelivery, toFresh } from '../clients/notify-workers.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import { type NewDelivery, newClaimed } from '../storage/new-delivery.ts'
import type { EndpointLease, EndpointTarget } from '../storage/endpoint-store.ts'
import type { Deps } from './deps.ts'
import type { UnstoredDeliveries } from './unstored-deliveries.ts'
import type { RecoverOrphans } from './settle-attempt.ts'

/*
 * A new delivery whose endpoint is under the lease of this very process needs neither a notification nor a
 * claim of its own. Its runner takes a slot first, and the attempt begins once the lease was seen in the
 * database. It is stored when the attempt has ended, or when that takes long; see
 * actions/unstored-deliveries.ts.
 */

export type { EndpointTarget, NewDelivery }

/** Deliveries in flight under the lease with this token, yet to be stored. */
export function claimBeforehand(fresh: readonly NewDelivery[], token: number, now: Date): DueDelivery[] {
  return fresh.map((one) => newClaimed(one, token, now))
}

/** What a runner has set aside for new deliveries of its endpoint. `end` is always called, last. */
export type Reservation = {
  readonly webhookId: string
  /** Those that have a place; the others of the endpoint wait. */
  readonly claimed: readonly DueDelivery[]
  /**
   * Makes the attempts at those that are in flight now.
   * @param endpoint as it was just read
   * @returns false when the lease is lost, and no attempt is made
   */
  send(
    endpoint: EndpointDocument | null,
    inFlight: ReadonlySet<string>,
    bodyOf: (delivery: DueDelivery) => string | null,
  ): boolean
  /**
   * Hands over those that wait, without a notification.
   * @param lease as it was just read
   * @returns false when the runner must be told like any other
   */
  add(lease: EndpointLease | null, waiting: readonly FreshDelivery[]): boolean
  /** Ends it, and gives back the places of those that were not sent. */
  end(): void
}

/** Asks the workers of this process for room; endpoints without a reservation are those of others. */
export type Reserve = (
  fresh: readonly NewDelivery[],
  targets: readonly EndpointTarget[],
  now: Date,
) => readonly Reservation[]

/** What became of new deliveries. */
type Created = {
  /** Those of which the workers must be told. */
  readonly untold: readonly NewDelivery[]
  /** Settles when all are stored; see `UnstoredDeliveries.keep`. */
  readonly stored: Promise<void>
}

/**
 * Creates the deliveries of new events and has those sent that can be.
 * Those with a place are sent before they are stored: the caller has recorded their events itself.
 * @param mayWait whether the others may wait for a place before they are stored
 * @throws what the database throws; all of them must then be looked for again
 */
export type CreateDeliveries = (
  fresh: readonly NewDelivery[],
  targets: readonly EndpointTarget[],
  bodyOf: (delivery: Pick<DueDelivery, 'eventId'>) => string | null,
  mayWait: boolean,
) => Promise<Created>

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

/**
 * Tells the workers of deliveries that were stored before their first attempt had ended. One in flight is
 * recovered at once when its lease is another's by now, who has not seen it.
 */
export function createAnnounceStored(
  deps: Pick<Deps, 'endpoints' | 'notifyWorkers' | 'clock'> & { recoverOrphans: RecoverOrphans },
): (documents: readonly DueDelivery[]) => Promise<void> {
  const { endpoints, recoverOrphans } = deps
  return async function announceStored(documents) {
    const [waiting, inFlight] = partition(documents, ({ claimToken }) => claimToken === 0)
    if (waiting.length > 0) await announceDeliveries(deps, waiting)
    if (inFlight.length === 0) return
    const tokens = new Map(inFlight.map(({ webhookId, claimToken }) => [webhookId, claimToken]))
    for (const { _id, leaseToken } of (await endpoints.leases([...tokens.keys()])).values()) {
      if (leaseToken !== tokens.get(_id)) await recoverOrphans(_id, leaseToken)
    }
  }
}

export function createCreateDeliveries({
  endpoints,
  deliveries,
  unstored,
  clock,
  reserve,
}: Pick<Deps, 'endpoints' | 'deliveries' | 'clock'> & {
  unstored: Pick<UnstoredDeliveries, 'keep' | 'take' | 'storeNow'>
  reserve: Reserve
}): CreateDeliveries {
  return async function createDeliveries(fresh, targets, bodyOf, mayWait) {
    const reservations = reserve(fresh, targets, clock.now())
    try {
      const reserved = new Set(reservations.map(({ webhookId }) => webhookId))
      const claimed = reservations.flatMap((one) => one.claimed)
      const placed = new Set(claimed.map(({ _id }) => _id))
      const [early, atOnce] = partition(
        fresh,
        ({ _id, webhookId }) => placed.has(_id) || (mayWait && reserved.has(webhookId)),
      )
      const stored = unstored.keep(early)
      await deliveries.create(atOnce)
      await failpoint('webhooks.created')
      const now = await endpoints.readMany([...reserved])
      const inFlight = unstored.take(
        claimed.filter(({ webhookId, claimToken }) => now.get(webhookId)?.leaseToken === claimToken),
      )
      const waiting = Map.groupBy(
        fresh.filter(({ _id }) => !inFlight.has(_id)),
        ({ webhookId }) => webhookId,
      )
      const told = new Set<string>()
      for (const one of reservations) {
        const endpoint = now.get(one.webhookId) ?? null
        const mine = one.claimed.length === 0 || one.send(endpoint, inFlight, bodyOf)
        const rest = (waiting.get(one.webhookId) ?? []).flatMap(toFresh)
        if (mine && (rest.length === 0 || one.add(endpoint, rest))) told.add(one.webhookId)
      }
      const untoldEarly = early.filter(({ webhookId }) => !told.has(webhookId))
      await unstored.storeNow(untoldEarly.map(({ _id }) => _id))
      return { untold: atOnce.filter(({ webhookId }) => !told.has(webhookId)), stored }
    } finally {
      for (const one of reservations) one.end()
    }
  }
}
