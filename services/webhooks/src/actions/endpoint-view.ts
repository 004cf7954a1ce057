import { failpoint } from '@pitboss/runtime/failpoint'
import type { Logger } from 'pino'
import { backlogOwedFor, inFlightMaxOf, isFullyHealthy, isShut } from '../rules/endpoint-health.ts'
import { pruneOwedAt } from '../rules/subscription.ts'
import { type Upcoming, upcomingMax } from '../storage/delivery-store.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import { createWaitingDeliveries } from './waiting-deliveries.ts'
import type { WebhooksContext } from '../context.ts'

/*
 * The stored deliveries of an endpoint that wait are made by four hands: its own worker, which puts back what
 * it stores; people, replay jobs and tests, which count each piece of work at the endpoint (`wakes`) and send
 * a notification. A notification makes the view stale, so that the next refresh reads everything. One that
 * gets lost is found by the dispatcher, which compares the count of each endpoint with `countRead` from time
 * to time. A waiting delivery that is known here is a hint, never an authority: a claim is fenced by the
 * stored delivery.
 */

/** The last resume of an endpoint: another one means that it was paused since. `PAUSED` while it is. */
const resumeOf = ({ health, heldRule }: EndpointDocument) =>
  health.status === 'PAUSED' ? 'PAUSED' : (heldRule?.at.getTime() ?? 0)

/** Without a notification, an endpoint read no longer ago than this is sent to. Source: ours. */
const trustedMsMax = 200

type Owner = { readonly logger: Logger; readonly inFlight: ReadonlyMap<string, unknown> }

export type EndpointView = ReturnType<typeof openEndpointView>

/** Opens what a worker knows of its endpoint and the stored deliveries that wait; empty before a refresh. */
export function openEndpointView(c: WebhooksContext, { logger, inFlight }: Owner, leased: EndpointDocument) {
  const { endpoints, deliveries, clock } = c
  const { _id: webhookId, leaseToken: token } = leased
  let current = leased
  const waiting = createWaitingDeliveries()
  let stale = true
  let lookedAtMs = performance.now()
  let looking: Promise<void> | null = null
  let countRead = leased.wakes
  /** The resume for which held deliveries were last released; `PAUSED` while they must be looked for. */
  let releasedFor: ReturnType<typeof resumeOf> = 'PAUSED'

  /** @returns null when the lease is lost */
  async function readEndpoint(): Promise<EndpointDocument | null> {
    const readAtMs = performance.now()
    const endpoint = await endpoints.readTogether(webhookId)
    if (endpoint === null || endpoint.leaseToken !== token) {
      logger.warn('endpoint.lease-lost')
      return null
    }
    lookedAtMs = readAtMs
    if (endpoint.version >= current.version) current = endpoint
    return endpoint
  }

  /** Takes the endpoint over as it was read or changed. What that asks for has everything read again. */
  function takeOver(endpoint: EndpointDocument): void {
    if (endpoint.version >= current.version) current = endpoint
    if (hasChanged(endpoint)) stale = true
  }

  /** Reads the endpoint, once at a time: secrets, URL and pause must be those of now. */
  function lookAgain(): Promise<void> {
    looking ??= readEndpoint()
      .then((endpoint) => void (stale ||= endpoint === null || hasChanged(endpoint)))
      .finally(() => (looking = null))
    looking.catch(() => undefined)
    return looking
  }

  /** Whether deliveries must be held, released, cancelled, pulled forward or read. */
  function hasChanged(endpoint: EndpointDocument): boolean {
    return (
      endpoint.deletedAt !== null ||
      resumeOf(endpoint) !== releasedFor ||
      backlogOwedFor(endpoint.health, endpoint.pulledFor ?? null) !== null ||
      pruneOwedAt(endpoint) !== null ||
      endpoint.wakes !== countRead
    )
  }

  /** Reads endpoint and waiting deliveries in full. @returns false when the lease is lost */
  async function readAll(): Promise<boolean> {
    stale = false
    const endpoint = await readEndpoint()
    if (endpoint === null) return false
    // The count is read before the deliveries: work that is made in between is seen by the next comparison.
    countRead = endpoint.wakes
    await applyPause(endpoint)
    releasedFor = resumeOf(endpoint)
    await pullBacklog(endpoint)
    await readWaiting()
    return true
  }

  /** So many that a backlog is not read again for each delivery; fewer for an endpoint that takes few. */
  const readMax = () =>
    isFullyHealthy(current.health, inFlightMaxOf(current)) ? upcomingMax : 2 * inFlightMaxOf(current)

  /** Moves deliveries as the endpoint says, also after a crash between its change and theirs. */
  async function applyPause(endpoint: EndpointDocument): Promise<void> {
    if (endpoint.deletedAt !== null) return deliveries.cancelAll(webhookId)
    await pruneDeliveries(c, endpoint)
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

  /** Reads more when a lane runs low: not while all slots are taken; while it is shut, one of each lane. */
  async function refill(): Promise<void> {
    const [inFlightMax, isShutNow] = [inFlightMaxOf(current), isShut(current.health)]
    if (inFlight.size >= inFlightMax) return
    if (waiting.runLow((lane) => (lane !== 'manual' && isShutNow ? 1 : inFlightMax))) await readWaiting()
  }

  const readWaiting = () => waiting.readAll(() => deliveries.upcoming(webhookId, readMax()))

  return {
    endpoint: () => current,
    /** A success changes nothing about the endpoint but the time of it. */
    isFullyHealthy: () => isFullyHealthy(current.health, inFlightMaxOf(current)),
    /** It takes no attempt but tests: paused, deleted, or its breaker is open. */
    isShut: () => current.deletedAt !== null || isShut(current.health),
    waiting: (): Upcoming['lanes'] => waiting.lanes(),
    firstDueAt: waiting.firstDueAt,
    /** All work up to this count is known. */
    countRead: () => countRead,
    pace: () => Math.min(current.health.pace.inFlight, inFlightMaxOf(current)),

    /** @returns false when the lease is lost */
    async refresh(): Promise<boolean> {
      const ageMs = performance.now() - lookedAtMs
      const look = !stale && ageMs > trustedMsMax / 2 ? lookAgain() : null
      if (ageMs > trustedMsMax) await look
      const isHeld = !stale || (await readAll())
      if (isHeld) await refill()
      return isHeld
    },

    /** Takes the endpoint over as somebody read it at `atMs`, so that it need not be read again. */
    see(endpoint: EndpointDocument, atMs: number) {
      if (stale || endpoint.leaseToken !== token || atMs < lookedAtMs) return
      lookedAtMs = atMs
      takeOver(endpoint)
    },

    markStale() {
      stale = true
    },

    remove: waiting.remove,

    putBack(delivery: DueDelivery) {
      const { health, deletedAt } = current
      const isPaused = health.status === 'PAUSED'
      // A pause or deletion may have begun, and a pause ended, while it was being stored.
      if (isPaused !== (delivery.status === 'HELD') || deletedAt !== null) stale = true
      if (delivery.status === 'HELD') releasedFor = 'PAUSED'
      else waiting.putBack(delivery)
    },

    changed: takeOver,
  }
}

/** Cancels what waits of unsubscribed types, once per change; after a crash the worker does. */
export async function pruneDeliveries(c: WebhooksContext, endpoint: EndpointDocument): Promise<void> {
  const until = pruneOwedAt(endpoint)
  if (until === null) return
  await failpoint('webhooks.unsubscribed')
  await c.deliveries.cancelTypes(endpoint._id, endpoint.events, until)
  await c.endpoints.notePruned(endpoint._id, until)
}
