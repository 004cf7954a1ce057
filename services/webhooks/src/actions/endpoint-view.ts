import { failpoint } from '@pitboss/runtime/failpoint'
import { earliest, lanes } from '../rules/choose-due.ts'
import { backlogOwedFor, inFlightMaxOf, isFullyHealthy, isShut } from '../rules/endpoint-health.ts'
import type { FreshDelivery } from '../clients/notify-workers.ts'
import { type Upcoming, upcomingMax } from '../storage/delivery-queue.ts'
import { newDocument } from '../storage/new-delivery.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import type { Deps } from './deps.ts'

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
 * lease in the database after its insert and hands the deliveries over in memory, uncounted (`add`). Whoever
 * leases the endpoint later reads them, and until then `dueAt` stays low, since only a release raises it; and
 * the runner releases nothing while there is something that was handed over and not looked at.
 */

const pausedNow = Symbol('paused')

/** The last resume of an endpoint, by which one tells whether it was paused since; `pausedNow` while it is. */
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
   * Takes over the endpoint as this worker has just changed it. After a pause, a closed breaker or a change of
   * somebody else everything is read again.
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
    const { _id: webhookId, leaseToken: token, operatorId, environment } = leased
    const logger = parentLogger.child({ webhook_id: webhookId })
    let current = leased
    let upcoming: Upcoming = firstLook.upcoming ?? {
      lanes: { fresh: [], retry: [], replay: [], manual: [] },
      open: new Set(),
    }
    let offered: FreshDelivery[] = []
    let stale = true
    let putBackMeanwhile: DueDelivery[] | null = null
    let lookedAtMs = 0
    let readAtMs = performance.now()
    let countRead = leased.wakes
    let offersSince = 0
    /** The resume for which held deliveries were last released; `pausedNow` while they have to be looked for. */
    let releasedFor: ReturnType<typeof resumeOf> = pausedNow

    // The deliveries read with the lease count as a full read, when pause and backlog need no work first.
    if (
      firstLook.upcoming !== null &&
      !firstLook.held &&
      leased.deletedAt === null &&
      leased.health.status === 'ACTIVE' &&
      backlogOwedFor(leased.health, leased.pulledFor ?? null) === null
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
     * Whether deliveries must be held, released, cancelled, pulled forward or read. An offer arrives before its
     * count: the counts are compared by the periodic look alone.
     */
    function hasChanged(endpoint: EndpointDocument, compareCounts: boolean): boolean {
      return (
        endpoint.deletedAt !== null ||
        resumeOf(endpoint) !== releasedFor ||
        resumeOf(endpoint) === pausedNow ||
        backlogOwedFor(endpoint.health, endpoint.pulledFor ?? null) !== null ||
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
      await reading(async () => {
        upcoming = await deliveries.upcoming(webhookId, readMax())
      })
      return true
    }

    /** Twice what may be in flight, so that a backlog is not read again for each delivery. */
    const readMax = () => 2 * inFlightMaxOf(current)

    /** Reads waiting deliveries. What is put back meanwhile may be missing in the answer, so it is added. */
    async function reading(read: () => Promise<void>): Promise<void> {
      const meanwhile: DueDelivery[] = []
      putBackMeanwhile = meanwhile
      try {
        await read()
      } finally {
        putBackMeanwhile = null
      }
      for (const delivery of meanwhile) addInOrder(delivery)
    }

    function addInOrder(delivery: DueDelivery): void {
      const { lane } = delivery
      const others = upcoming.lanes[lane].filter(({ _id }) => _id !== delivery._id)
      const next = others.findIndex(({ dueAt }) => dueAt > delivery.dueAt)
      // What comes after all that is known of a longer lane is read when its turn comes.
      if (next === -1 && upcoming.open.has(lane)) return
      const waiting = others.toSpliced(next === -1 ? others.length : next, 0, delivery)
      if (waiting.length > upcomingMax) upcoming.open.add(lane)
      upcoming.lanes[lane] = waiting.slice(0, upcomingMax)
    }

    /**
     * Holds or releases deliveries as the endpoint says, also after a crash between its change and theirs.
     */
    async function applyPause(endpoint: EndpointDocument): Promise<void> {
      if (endpoint.deletedAt !== null) return deliveries.cancelAll(webhookId)
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
      for (const lane of upcoming.open) {
        const enough = lane !== 'manual' && isShut(current.health) ? 1 : inFlightMaxOf(current)
        if (upcoming.lanes[lane].length >= enough) continue
        await reading(async () => {
          const { waiting, open } = await deliveries.upcomingIn(webhookId, lane, readMax())
          upcoming.lanes[lane] = waiting
          if (!open) upcoming.open.delete(lane)
        })
      }
    }

    /**
     * Adds offered deliveries to the waiting ones; not behind a longer backlog, from which they are read in
     * due order.
     */
    function mergeOffered(): void {
      const fresh = offered
      offered = []
      if (upcoming.open.has('fresh')) return
      const known = new Set(Object.values(upcoming.lanes).flatMap((lane) => lane.map(({ _id }) => _id)))
      for (const { _id, eventId, eventType, createdAtMs, traceparent } of fresh) {
        if (known.has(_id) || inFlight.has(_id)) continue
        const createdAt = new Date(createdAtMs)
        const trace = traceparent === undefined ? {} : { traceparent }
        const ids = { _id, operatorId, environment, webhookId, eventId, ...trace }
        const { attempts: _, ...due } = newDocument({ ...ids, eventType, lane: 'fresh', createdAt })
        upcoming.lanes.fresh.push(due)
      }
      if (upcoming.lanes.fresh.length <= upcomingMax) return
      upcoming.lanes.fresh.length = upcomingMax
      upcoming.open.add('fresh')
    }

    function keep(fresh: readonly FreshDelivery[]): void {
      // A pause has to hold what comes, so all is read then.
      if (current.health.status === 'PAUSED') {
        stale = true
        return
      }
      // Behind a longer backlog they are read when their turn comes; a read under way may not see them.
      const isReading = putBackMeanwhile !== null
      if (isReading || !upcoming.open.has('fresh')) offered.push(...fresh)
      if (offered.length <= upcomingMax) return
      if (isReading) {
        offered = []
        stale = true
        return
      }
      mergeOffered()
      lookedAtMs = Number.NEGATIVE_INFINITY
    }

    return {
      endpoint: () => current,
      isFullyHealthy: () => isFullyHealthy(current.health, inFlightMaxOf(current)),
      isPaused: () => current.deletedAt !== null || isShut(current.health),
      waiting: () => upcoming.lanes,

      firstNew() {
        const [known] = upcoming.lanes.fresh
        const [next] = offered
        if (known !== undefined) return known
        if (next === undefined) return null
        const createdAt = new Date(next.createdAtMs)
        return { dueAt: createdAt, createdAt }
      },

      firstDueAt() {
        const [next] = offered
        const offeredAt = next === undefined ? [] : [new Date(next.createdAtMs)]
        const { fresh, retry } = upcoming.lanes
        const firsts = [...fresh.slice(0, 1), ...retry.slice(0, 1)]
        return earliest([...offeredAt, ...firsts.map(({ dueAt }) => dueAt)])
      },

      dueCount: (now) =>
        lanes.reduce(
          (count, lane) => count + upcoming.lanes[lane].filter(({ dueAt }) => dueAt <= now).length,
          offered.length,
        ),
      countRead: () => countRead,

      async refresh() {
        const lookDue = performance.now() - lookedAtMs > lookEveryMs
        let held = true
        if (stale || mayHideWork()) {
          held = await readAll()
        } else if (lookDue || offered.length > 0) {
          // Read also when the deliveries are known: secrets, URL and pause must be those of now.
          const endpoint = await readEndpoint()
          if (lookDue) lookedAtMs = performance.now()
          held = endpoint !== null && (!hasChanged(endpoint, lookDue) || (await readAll()))
        }
        if (held) await refillLanes()
        mergeOffered()
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

      hasNews: () => stale || offered.length > 0,

      pace: () => Math.min(current.health.pace.inFlight, inFlightMaxOf(current)),

      isBlocked: () =>
        current.health.status === 'ACTIVE' &&
        current.health.breaker.probeAt !== null &&
        lanes.some((lane) => upcoming.lanes[lane].length > 0),

      atEase(version, now) {
        const { health, deletedAt, pulledFor = null } = current
        return (
          !stale &&
          offered.length === 0 &&
          upcoming.open.size === 0 &&
          current.version === version &&
          deletedAt === null &&
          releasedFor === resumeOf(current) &&
          health.status === 'ACTIVE' &&
          health.breaker.probeAt === null &&
          backlogOwedFor(health, pulledFor) === null &&
          lanes.every((lane) => upcoming.lanes[lane].every(({ dueAt }) => dueAt > now))
        )
      },

      isBehind,

      remove(ids) {
        for (const lane of lanes) {
          upcoming.lanes[lane] = upcoming.lanes[lane].filter(({ _id }) => !ids.has(_id))
        }
      },

      putBack(delivery) {
        if (delivery.status === 'HELD') {
          // The pause may have ended since it was judged.
          releasedFor = pausedNow
          stale = true
        } else {
          putBackMeanwhile?.push(delivery)
          addInOrder(delivery)
        }
      },

      changed(endpoint) {
        if (endpoint.version >= current.version) current = endpoint
        if (hasChanged(endpoint, false)) stale = true
      },
    }
  }
}
