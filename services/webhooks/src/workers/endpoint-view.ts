import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Logger } from 'pino'
import { lanes } from '../rules/claim-plan.ts'
import { backlogOwedFor, inFlightMax } from '../rules/endpoint-health.ts'
import { newDocument, type Upcoming, upcomingMax } from '../storage/delivery-queue.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import type { DueDelivery, EndpointDocument } from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { FreshDelivery } from '../clients/wake.ts'

/** A wake-up can get lost; whether the endpoint has changed or has more to do is looked at this often anyway. */
const lookEveryMs = 500

/** What a worker knows of an endpoint that it holds: the endpoint, and the deliveries that wait for it in due order. */
export type EndpointView = {
  endpoint(): EndpointDocument
  waiting(): Upcoming['lanes']
  /** Work made for the endpoint up to this count has been seen among what waits, without a doubt. */
  wakesSeen(): number
  /** Reads what may have changed. @returns false when the lease is lost. */
  refresh(): Promise<boolean>
  /** What was known is out of date. */
  lookAgain(): void
  /** These were just made, and counted once at the endpoint: they need not be looked for when nothing else waits unseen. */
  offer(fresh: readonly FreshDelivery[]): void
  /** Whether more work was made, by the endpoint's count of it, than was seen or offered. */
  hasUnseen(wakes: number): boolean
  /** These do not wait any more. */
  remove(ids: ReadonlySet<string>): void
  /** The endpoint as this worker has just changed it. */
  changed(endpoint: EndpointDocument): void
}

/** What was read when the lease was taken; `null` where it must be read. */
export type FirstLook = { readonly upcoming: Upcoming | null; readonly held: boolean }

/** @param inFlight deliveries that this worker has claimed, by id */
export function createEndpointView({
  endpoints,
  deliveries,
  clock,
  logger,
  leased,
  firstLook,
  inFlight,
}: {
  endpoints: EndpointStore
  deliveries: DeliveryStore
  clock: Clock
  logger: Logger
  leased: EndpointDocument
  firstLook: FirstLook
  inFlight: ReadonlyMap<string, DueDelivery>
}): EndpointView {
  const { _id: webhookId, leaseToken: token, operatorId, environment } = leased
  let current = leased
  let upcoming: Upcoming = firstLook.upcoming ?? {
    lanes: { fresh: [], retry: [], replay: [], manual: [] },
    open: new Set(),
  }
  let offered: FreshDelivery[] = []
  let stale = true
  let lookedAtMs = 0
  let wakesSeen = leased.wakes
  let wakesOffered = 0
  let heldAtVersion: number | null = null

  /** Reads on in lanes of which the end is in sight. */
  async function refill(): Promise<void> {
    for (const lane of upcoming.open) {
      if (upcoming.lanes[lane].length >= inFlightMax) continue
      const { waiting, open } = await deliveries.upcomingIn(webhookId, lane)
      upcoming.lanes[lane] = waiting
      if (!open) upcoming.open.delete(lane)
    }
  }

  /** Whoever makes work counts it at the endpoint; what was offered just now is counted a moment later. */
  function hasMore({ version, health, wakes }: EndpointDocument, countsToo: boolean): boolean {
    return (
      version !== heldAtVersion ||
      health.status === 'PAUSED' ||
      (countsToo && wakes !== wakesSeen + wakesOffered)
    )
  }

  // What was read with the lease is as good as a look, where nothing has to be settled first.
  if (
    firstLook.upcoming !== null &&
    !firstLook.held &&
    leased.deletedAt === null &&
    leased.health.status === 'ACTIVE' &&
    backlogOwedFor(leased.health, leased.pulledFor ?? null) === null
  ) {
    stale = false
    lookedAtMs = performance.now()
    heldAtVersion = leased.version
  }

  /** @returns null when the lease is lost. */
  async function readEndpoint(): Promise<EndpointDocument | null> {
    const endpoint = await endpoints.readTogether(webhookId)
    if (endpoint === null || endpoint.leaseToken !== token) {
      logger.warn('endpoint.lease-lost')
      return null
    }
    if (endpoint.version >= current.version) current = endpoint
    return endpoint
  }

  async function look(): Promise<boolean> {
    stale = false
    lookedAtMs = performance.now()
    const endpoint = await readEndpoint()
    if (endpoint === null) return false
    // Read before what waits is: work that is made in between must keep the lease from being given back.
    wakesSeen = endpoint.wakes
    wakesOffered = 0
    await settleHeld(endpoint)
    heldAtVersion = endpoint.version
    await pullBacklog(endpoint)
    upcoming = await deliveries.upcoming(webhookId)
    return true
  }

  /** Keeps pause and deliveries in step, also after a death between a change of the endpoint and of its deliveries. */
  async function settleHeld(endpoint: EndpointDocument): Promise<void> {
    if (endpoint.deletedAt !== null) return deliveries.cancelAll(webhookId)
    if (endpoint.health.status === 'PAUSED') {
      await deliveries.hold(webhookId)
    } else if (heldAtVersion !== endpoint.version && (await deliveries.hasHeld(webhookId))) {
      const { heldRule } = endpoint
      await deliveries.release(webhookId, heldRule?.action === 'skip' ? heldRule.at : null, clock.now())
    }
  }

  /** Pulls forward what has waited for the breaker to close, also after a death since it did. */
  async function pullBacklog({ health, pulledFor, deletedAt }: EndpointDocument): Promise<void> {
    const closedAt = deletedAt === null ? backlogOwedFor(health, pulledFor ?? null) : null
    if (closedAt === null) return
    const pulled = await deliveries.pullBacklog(webhookId, closedAt, clock.now())
    await failpoint('webhooks.backlog-pulled')
    await endpoints.notePulled(webhookId, closedAt)
    logger.info({ deliveries: pulled }, 'backlog.pulled')
  }

  /** Adds what was offered to what waits. Behind a backlog that is not all in view it has to be read in its turn. */
  function takeOffered(): void {
    const fresh = offered
    offered = []
    if (upcoming.open.has('fresh')) return
    const known = new Set(Object.values(upcoming.lanes).flatMap((lane) => lane.map(({ _id }) => _id)))
    for (const { _id, eventId, eventType, createdAtMs } of fresh) {
      if (known.has(_id) || inFlight.has(_id)) continue
      const createdAt = new Date(createdAtMs)
      const ids = { _id, operatorId, environment, webhookId, eventId }
      const { attempts: _, ...due } = newDocument({ ...ids, eventType, lane: 'fresh', createdAt })
      upcoming.lanes.fresh.push(due)
    }
    if (upcoming.lanes.fresh.length <= upcomingMax) return
    upcoming.lanes.fresh.length = upcomingMax
    upcoming.open.add('fresh')
  }

  return {
    endpoint: () => current,
    waiting: () => upcoming.lanes,
    wakesSeen: () => wakesSeen,

    async refresh() {
      const lookDue = performance.now() - lookedAtMs > lookEveryMs
      let held = true
      if (stale) {
        held = await look()
      } else if (lookDue || offered.length > 0) {
        // Secrets, url and pause are those of this moment also when what waits is known.
        const endpoint = await readEndpoint()
        if (lookDue) lookedAtMs = performance.now()
        held = endpoint !== null && (!hasMore(endpoint, lookDue) || (await look()))
      }
      if (held) await refill()
      takeOffered()
      return held
    },

    lookAgain() {
      stale = true
    },

    offer(fresh) {
      wakesOffered += 1
      if (offered.length + fresh.length <= upcomingMax) offered.push(...fresh)
      else stale = true
    },

    hasUnseen: (wakes) => wakes !== wakesSeen + wakesOffered,

    remove(ids) {
      for (const lane of lanes) {
        upcoming.lanes[lane] = upcoming.lanes[lane].filter(({ _id }) => !ids.has(_id))
      }
    },

    changed(endpoint) {
      current = endpoint
    },
  }
}
