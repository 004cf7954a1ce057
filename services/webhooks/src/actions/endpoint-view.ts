import { failpoint } from '@pitboss/runtime/failpoint'
import { backlogOwedFor, inFlightMaxOf, isFullyHealthy, isShut } from '../rules/endpoint-health.ts'
import { pruneOwedAt } from '../rules/subscription.ts'
import type { FreshDelivery } from '../clients/notify-workers.ts'
import { type Upcoming, upcomingMax } from '../storage/delivery-queue.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import type { Deps } from './deps.ts'
import { pruneDeliveries } from './prune-deliveries.ts'
import { createWaitingDeliveries } from './waiting-deliveries.ts'

/*
 * The invariant of notifications. Every maker of work for an endpoint does three things: it stores the
 * deliveries, publishes one notification, and in one update lowers the endpoint's `dueAt` and adds one to its
 * work count (the field `wakes`). The count is exact, the notification may get lost, and the two may arrive
 * in either order. The view remembers `countRead`, the work count read just before the waiting deliveries
 * were last read in full, and `offersSince`, the number of notifications since then that named all their new
 * deliveries; these join the waiting ones without a read. While the work count is countRead + offersSince,
 * the view knows all the endpoint's work. From this follow three rules:
 * (1) When the counts differ, the view is stale and reads everything again. It compares them every 500 ms
 * while at work; the dispatcher compares those of idle endpoints. A higher count tells a lost notification; a
 * lower one tells an offer that is not counted yet, and then the read finds nothing new.
 * (2) The lease is given back only by an update that finds the work count equal to countRead. After an offer
 * that update misses, everything is read once more, and the next update succeeds. So no work is left without
 * a due time. An offer may be counted twice: when it arrives after a read that had its count already. Then it
 * hides a lost notification from rule 1, so everything is read again 5 s after the last full read when offers
 * have come since, however busy the endpoint is.
 * (3) An offered delivery is a hint, never an authority: a claim is fenced by the stored delivery.
 * A maker of work in the worker's own process needs none of this (actions/create-deliveries.ts): it sees the
 * lease in the database and hands the deliveries over in memory, uncounted (`add`). Those that wait here for
 * long are stored and told of like all others (actions/unstored-deliveries.ts); and the runner releases
 * nothing while there is something that was handed over and not looked at.
 */

const pausedNow = Symbol('paused')

/** The last resume of an endpoint, which tells whether it was paused since; `pausedNow` while it is. */
function resumeOf({ health, heldRule }: EndpointDocument): number | typeof pausedNow | null {
  return health.status === 'PAUSED' ? pausedNow : (heldRule?.at.getTime() ?? null)
}

/** A change of the endpoint and lost notifications are looked for this often. */
const lookEveryMs = 500
/** An offer that was counted twice hides a lost notification for no longer than this. */
const trustOffersMs = 5000

export type { FreshDelivery } from '../clients/notify-workers.ts'

/**
 * A worker's knowledge of an endpoint that it holds: the endpoint, and its waiting deliveries in due order.
 */
export type EndpointView = {
  endpoint(): EndpointDocument
  /** A success changes nothing about the endpoint but the time of it. */
  isFullyHealthy(): boolean
  /** It takes no attempt but tests: paused, deleted, or its breaker is open. */
  isPaused(): boolean
  waiting(): Upcoming['lanes']
  /** The first of the new deliveries that wait, in due order; null for none. */
  firstNew(): Pick<DueDelivery, 'dueAt' | 'createdAt'> | null
  /** When the first of the new and repeated deliveries that wait is due; null for none. */
  firstDueAt(): Date | null
  /** How many deliveries wait and are due, as far as they are known. */
  dueCount(now: Date): number
  /** All work up to this count is known for certain. */
  countRead(): number
  /** Reads what may have changed. @returns false when the lease is lost */
  refresh(): Promise<boolean>
  /** Has the next refresh read everything again. */
  markStale(): void
  /** Adds deliveries that were just created by one maker of work, who counts them once at the endpoint. */
  offer(fresh: readonly FreshDelivery[]): void
  /** Adds deliveries that were just created by this process under this lease, which nobody counts. */
  add(fresh: readonly FreshDelivery[]): void
  /** Whether something is known of that the next refresh has yet to look at. */
  hasNews(): boolean
  /**
   * Whether nothing is due, nothing unknown waits and nothing about the endpoint forbids an attempt now, so
   * that a new delivery may be sent at once.
   * @param version of the endpoint as it was read for that delivery
   */
  atEase(version: number, now: Date): boolean
  /** Attempts that may be in flight now. */
  pace(): number
  /** Whether the next look is at the time of the breaker's probe, however many more deliveries there are. */
  isBlocked(): boolean
  /** Whether this work count differs from the work that is known. */
  isBehind(workCount: number): boolean
  /** Removes deliveries that wait no more. */
  remove(ids: ReadonlySet<string>): void
  /** Adds a delivery that this worker had in flight and that waits again, as it has just written it. */
  putBack(delivery: DueDelivery): void
  /**
   * Takes over the endpoint as this worker has just changed it. After a pause, a closed breaker or a change
   * of somebody else everything is read again.
   */
  changed(endpoint: EndpointDocument): void
}

/** What was read with the lease: the waiting deliveries, null for too many, and whether any are held. */
export type FirstLook = { readonly upcoming: Upcoming | null; readonly held: boolean }

/** @param inFlight deliveries that this worker has claimed, by id */
export type OpenEndpointView = (
  leased: EndpointDocument,
  firstLook: FirstLook,
  inFlight: ReadonlyMap<string, DueDelivery>,
) => EndpointView

export function createOpenEndpointView({
  endpoints,
  deliveries,
  clock,
  logger: parentLogger,
}: Pick<Deps, 'endpoints' | 'deliveries' | 'clock' | 'logger'>): OpenEndpointView {
  return function openEndpointView(leased, firstLook, inFlight) {
    const { _id: webhookId, leaseToken: token } = leased
    const logger = parentLogger.child({ webhook_id: webhookId })
    let current = leased
    const waiting = createWaitingDeliveries(leased, firstLook.upcoming, inFlight)
    let stale = true
    let lookedAtMs = 0
    let readAtMs = performance.now()
    let countRead = leased.wakes
    let offersSince = 0
    /** The resume for which held deliveries were last released; `pausedNow` while they must be looked for. */
    let releasedFor: ReturnType<typeof resumeOf> = pausedNow

    // The deliveries read with the lease count as a full read, when pause and backlog need no work first.
    if (
      firstLook.upcoming !== null &&
      !firstLook.held &&
      leased.deletedAt === null &&
      leased.health.status === 'ACTIVE' &&
      backlogOwedFor(leased.health, leased.pulledFor ?? null) === null &&
      pruneOwedAt(leased) === null
    ) {
      stale = false
      lookedAtMs = performance.now()
      releasedFor = resumeOf(leased)
    }

    const isBehind = (workCount: number) => workCount !== countRead + offersSince

    /** @returns null when the lease is lost */
    async function readEndpoint(): Promise<EndpointDocument | null> {
      const endpoint = await endpoints.readTogether(webhookId)
      if (endpoint === null || endpoint.leaseToken !== token) {
        logger.warn('endpoint.lease-lost')
        return null
      }
      if (endpoint.version >= current.version) current = endpoint
      return endpoint
    }

    /**
     * Whether deliveries must be held, released, cancelled, pulled forward or read. An offer arrives before
     * its count: the counts are compared by the periodic look alone.
     */
    function hasChanged(endpoint: EndpointDocument, compareCounts: boolean): boolean {
      return (
        endpoint.deletedAt !== null ||
        resumeOf(endpoint) !== releasedFor ||
        resumeOf(endpoint) === pausedNow ||
        backlogOwedFor(endpoint.health, endpoint.pulledFor ?? null) !== null ||
        pruneOwedAt(endpoint) !== null ||
        (compareCounts && isBehind(endpoint.wakes))
      )
    }

    const mayHideWork = () => offersSince > 0 && performance.now() - readAtMs > trustOffersMs

    /** Reads endpoint and waiting deliveries in full. @returns false when the lease is lost */
    async function readAll(): Promise<boolean> {
      stale = false
      lookedAtMs = performance.now()
      readAtMs = lookedAtMs
      const endpoint = await readEndpoint()
      if (endpoint === null) return false
      // The count is read before the deliveries: work made in between must keep the lease from being given
      // back.
      countRead = endpoint.wakes
      offersSince = 0
      await applyPause(endpoint)
      releasedFor = resumeOf(endpoint)
      await pullBacklog(endpoint)
      await waiting.readAll(() => deliveries.upcoming(webhookId, readMax()))
      return true
    }

    /**
     * So many that a backlog is not read again for each delivery. Of an endpoint that takes few or none they
     * would be read again before they are sent.
     */
    const readMax = () =>
      isFullyHealthy(current.health, inFlightMaxOf(current)) ? upcomingMax : 2 * inFlightMaxOf(current)

    /**
     * Holds, releases or cancels deliveries as the endpoint says, also after a crash between its change and
     * theirs.
     */
    async function applyPause(endpoint: EndpointDocument): Promise<void> {
      if (endpoint.deletedAt !== null) return deliveries.cancelAll(webhookId)
      await pruneDeliveries({ endpoints, deliveries }, endpoint)
      if (endpoint.health.status === 'PAUSED') {
        await deliveries.hold(webhookId)
      } else if (releasedFor !== resumeOf(endpoint) && (await deliveries.hasHeld(webhookId))) {
        const { heldRule } = endpoint
        await deliveries.release(webhookId, heldRule?.action === 'skip' ? heldRule.at : null, clock.now())
      }
    }

    /** Pulls the backlog of a closed breaker forward, also after a crash since it closed. */
    async function pullBacklog({ health, pulledFor, deletedAt }: EndpointDocument): Promise<void> {
      const closedAt = deletedAt === null ? backlogOwedFor(health, pulledFor ?? null) : null
      if (closedAt === null) return
      const pulled = await deliveries.pullBacklog(webhookId, closedAt, clock.now())
      await failpoint('webhooks.backlog-pulled')
      await endpoints.notePulled(webhookId, closedAt)
      logger.info({ deliveries: pulled }, 'backlog.pulled')
    }

    /**
     * Reads more of the lanes that run low. To read a long backlog costs, so not while all places are taken;
     * and while the endpoint is shut, one of each lane tells that it waits.
     */
    async function refillLanes(): Promise<void> {
      if (inFlight.size >= inFlightMaxOf(current)) return
      for (const lane of waiting.openLanes()) {
        const enough = lane !== 'manual' && isShut(current.health) ? 1 : inFlightMaxOf(current)
        if (waiting.lanes()[lane].length >= enough) continue
        await waiting.readLane(lane, () => deliveries.upcomingIn(webhookId, lane, readMax()))
      }
    }

    function keep(fresh: readonly FreshDelivery[]): void {
      // A pause has to hold what comes, so all is read then.
      if (current.health.status === 'PAUSED' || !waiting.offer(fresh)) stale = true
    }

    return {
      endpoint: () => current,
      isFullyHealthy: () => isFullyHealthy(current.health, inFlightMaxOf(current)),
      isPaused: () => current.deletedAt !== null || isShut(current.health),
      waiting: waiting.lanes,

      firstNew: waiting.firstNew,
      firstDueAt: waiting.firstDueAt,
      dueCount: waiting.dueCount,
      countRead: () => countRead,

      async refresh() {
        const lookDue = performance.now() - lookedAtMs > lookEveryMs
        let held = true
        if (stale || mayHideWork()) {
          held = await readAll()
        } else if (lookDue || waiting.hasOffers()) {
          // Read also when the deliveries are known: secrets, URL and pause must be those of now.
          const endpoint = await readEndpoint()
          if (lookDue) lookedAtMs = performance.now()
          held = endpoint !== null && (!hasChanged(endpoint, lookDue) || (await readAll()))
        }
        if (held) await refillLanes()
        waiting.merge()
        return held
      },

      markStale() {
        stale = true
      },

      offer(fresh) {
        offersSince += 1
        keep(fresh)
      },

      add: keep,

      hasNews: () => stale || waiting.hasOffers(),

      pace: () => Math.min(current.health.pace.inFlight, inFlightMaxOf(current)),

      isBlocked: () =>
        current.health.status === 'ACTIVE' && current.health.breaker.probeAt !== null && !waiting.isEmpty(),

      atEase(version, now) {
        const { health, deletedAt, pulledFor = null } = current
        return (
          !stale &&
          !waiting.hasOffers() &&
          waiting.openLanes().size === 0 &&
          current.version === version &&
          deletedAt === null &&
          releasedFor === resumeOf(current) &&
          health.status === 'ACTIVE' &&
          health.breaker.probeAt === null &&
          backlogOwedFor(health, pulledFor) === null &&
          waiting.dueCount(now) === 0
        )
      },

      isBehind,

      remove: waiting.remove,

      putBack(delivery) {
        if (delivery.status === 'PENDING') return waiting.putBack(delivery)
        // The pause may have ended since it was judged.
        releasedFor = pausedNow
        stale = true
      },

      changed(endpoint) {
        if (endpoint.version >= current.version) current = endpoint
        if (hasChanged(endpoint, false)) stale = true
      },
    }
  }
}
