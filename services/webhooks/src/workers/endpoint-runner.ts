import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import { createSignal } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { Choice, Chosen, ClaimDeliveries, Claimed } from '../actions/claim-deliveries.ts'
import {
  claimBeforehand,
  type EndpointTarget,
  type NewDelivery,
  type Reservation,
} from '../actions/create-deliveries.ts'
import { deferredMsMax } from '../actions/deferred-deliveries.ts'
import { createEndpointLateness } from '../actions/endpoint-lateness.ts'
import type { FreshDelivery, OpenEndpointView } from '../actions/endpoint-view.ts'
import type { LeasedEndpoint, LeaseEndpoints } from '../actions/lease-endpoints.ts'
import type { MakeAttempt } from '../actions/make-attempt.ts'
import type { RecordSuccesses, RecoverOrphans, SettleAttempt } from '../actions/settle-attempt.ts'
import { createHeldSlots } from './held-slots.ts'
import { openReservation } from './open-reservation.ts'
import type { LateEndpoint } from './lateness-teller.ts'
import type { Slots } from './slots.ts'

/*
 * The invariant of this loop. The signal is notified after every change that can let it do more: new work
 * (`notify`, `offer`), a changed endpoint, the end of an attempt, a free slot, a stop. A notification during
 * a turn of the loop is kept for its next wait, so none is lost; and since every turn refreshes the view and
 * chooses anew, a notification too many does no harm. How the view learns of work whose notification was lost
 * stands in actions/endpoint-view.ts.
 */

const recheckMs = 5000

type Endpoint = LeasedEndpoint['endpoint']
type Delivery = Chosen['due']

export type RunnerDeps = {
  readonly openEndpointView: OpenEndpointView
  readonly claimDeliveries: ClaimDeliveries
  readonly makeAttempt: MakeAttempt
  readonly settleAttempt: SettleAttempt
  readonly recoverOrphans: RecoverOrphans
  readonly recordSuccesses: RecordSuccesses
  readonly leaseEndpoints: LeaseEndpoints
  readonly slots: Slots
  readonly clock: Clock
  readonly logger: Logger
  /** How long an idle endpoint stays with its worker, ready for the next event. */
  readonly lingerMs: () => number
  readonly onAttempt: (attempt: { delivery: Delivery; ok: boolean; sentAt: Date; durationMs: number }) => void
}

export type EndpointRunner = {
  /** Has everything read again: work may have become due, or the endpoint has changed. */
  notify(): void
  /** Adds deliveries that were just created, which need no read when no other work is unknown. */
  offer(fresh: readonly FreshDelivery[]): void
  /**
   * Keeps the lease and takes slots for deliveries that are about to be created by this process.
   * @param target the endpoint as it was just read
   * @returns null when the lease is not this runner's, or about to end
   */
  reserve(fresh: readonly NewDelivery[], target: EndpointTarget, now: Date): Reservation | null
  /**
   * Whether a new delivery could not be sent within a second: the endpoint is shut, or all its places are
   * taken, none comes free that soon, and others wait for each of them.
   */
  takesNone(now: Date): boolean
  /** How late its deliveries are; asked at even intervals. */
  lateness(now: Date): LateEndpoint
  /** Nothing is in flight and nothing is due. */
  idle(): boolean
  /** Notifies an idle runner that does not know all the work of this count. */
  notifyIfBehind(workCount: number): void
  /** Claims nothing more; `done` resolves when all attempts in flight have ended. */
  stop(): void
  /** Forgets the attempts in flight: the process ends, and the next holder of the lease repeats them. */
  abandon(): void
  readonly done: Promise<void>
}

/** Delivers to one endpoint under its lease for as long as there is something to deliver. */
export function runEndpoint(
  deps: RunnerDeps,
  { endpoint: leased, look, claimed }: LeasedEndpoint,
): EndpointRunner {
  const { claimDeliveries, leaseEndpoints, slots, clock } = deps
  const { _id: webhookId, operatorId, leaseToken: token } = leased
  const logger = deps.logger.child({ webhook_id: webhookId })
  const signal = createSignal()
  const inFlight = new Map<string, Delivery>()
  const held = createHeldSlots()
  const work = new Set<Promise<void>>()
  const view = deps.openEndpointView(leased, look, inFlight)
  let stopped = false
  /** The lease is being given back: nothing may be handed over any more. */
  let releasing = false
  let abandoned = false
  let turns: Choice['turns'] = { all: 0, normal: 0 }
  let probeInFlight = false
  /** Attempts that are at the receiver. */
  let asking = 0
  const latenessOf = createEndpointLateness(view)
  let lastSuccessAt: Date | null = null
  let idle = false

  /**
   * No plain poll: it waits until the next delivery is due, and ends when the endpoint has nothing to do.
   * @returns true when the lease is given back already
   */
  async function run(): Promise<boolean> {
    if (claimed) {
      const orphans = await deps.recoverOrphans(webhookId, token)
      if (orphans > 0) logger.warn({ deliveries: orphans }, 'deliveries.recovered')
      view.markStale()
    }
    while (!stopped) {
      idle = false
      if (!(await view.refresh())) return true
      const { nextAt, starved } = await claimDue()
      // An attempt in flight notifies at its end anyway; a free slot is for endpoints that have none.
      if (starved && inFlight.size === 0) slots.notifyWhenFree(operatorId, signal.ring)
      const untilNextMs = nextAt === null ? recheckMs : Math.max(0, nextAt.getTime() - clock.now().getTime())
      const lingerMs = deps.lingerMs()
      idle = inFlight.size === 0 && work.size === 0 && !starved
      const notified = await signal.wait(
        idle
          ? Math.min(lingerMs, nextAt === null ? lingerMs : untilNextMs)
          : Math.min(recheckMs, untilNextMs),
      )
      if (!idle || notified || (nextAt !== null && untilNextMs <= lingerMs)) continue
      await deps.recordSuccesses.flush()
      if (await release(nextAt)) return true
    }
    return false
  }

  /** Gives the lease back unless there is more to do. */
  async function release(dueAt: Date | null): Promise<boolean> {
    if (work.size > 0 || view.hasNews()) return false
    releasing = true
    if (await leaseEndpoints.release(leased, { workCount: view.countRead(), dueAt })) return true
    releasing = false
    view.markStale()
    return false
  }

  async function claimDue(): Promise<{ nextAt: Date | null; starved: boolean }> {
    const endpoint = view.endpoint()
    const now = clock.now()
    const flying = [...inFlight.values()]
    const choice = await claimDeliveries.choose({ view, inFlight: flying, probeInFlight, turns, now })
    turns = choice.turns
    const { nextAt } = choice
    if (choice.unsubscribed.length > 0) {
      await claimDeliveries.cancel(webhookId, choice.unsubscribed)
      view.remove(new Set(choice.unsubscribed.map(({ _id }) => _id)))
      // They had the places of others.
      signal.ring()
    }
    // One that has just been written as waiting may still have its place: it is chosen again without it.
    const chosen = choice.chosen.filter(({ due }) => !inFlight.has(due._id))
    const holds = { inFlight: inFlight.size, scarceMax: held.scarceMax(now) }
    const granted = slots.take(operatorId, chosen.length, holds)
    await start(endpoint, chosen.slice(0, granted), now)
    return { nextAt, starved: granted < chosen.length }
  }

  /** Claims the deliveries and sends them; the slot of one that could not be claimed is given back. */
  async function start(endpoint: Endpoint, taken: readonly Chosen[], now: Date): Promise<void> {
    if (taken.length === 0) return
    view.remove(new Set(taken.map(({ due }) => due._id)))
    for (const { due } of taken) {
      inFlight.set(due._id, due)
      held.took(due._id, now)
    }
    if (taken.some(({ probe }) => probe)) probeInFlight = true
    try {
      for (const one of await claimDeliveries.claim(leased, taken, token, now)) {
        if (one.delivery === null) {
          view.markStale()
          finish(one.chosen)
          continue
        }
        follow(send(endpoint, one.delivery, one))
      }
    } catch (err) {
      // Any of them may be claimed; the next holder of the lease recovers those.
      for (const one of taken) finish(one)
      throw err
    }
  }

  /** Has the lease kept until this has ended. */
  function follow(one: Promise<void>): void {
    work.add(one)
    void one.finally(() => {
      work.delete(one)
      if (work.size === 0) signal.ring()
    })
  }

  function reserve(fresh: readonly NewDelivery[], target: EndpointTarget, now: Date): Reservation | null {
    if (stopped || releasing || target.leaseToken !== token || target.dueAt > now) return null
    const pace = view.pace()
    const room = view.atEase(target.version, now) ? Math.max(0, pace - inFlight.size) : 0
    const holds = { inFlight: inFlight.size, scarceMax: held.scarceMax(now) }
    const granted = room === 0 ? 0 : slots.take(operatorId, Math.min(room, fresh.length), holds)
    const claimed = claimBeforehand(fresh.slice(0, granted), token, now)
    const chosen = claimed.map((due) => ({ due, probe: false }))
    for (const { due } of chosen) {
      inFlight.set(due._id, due)
      held.took(due._id, now)
    }
    const { promise, resolve: onEnd } = Promise.withResolvers<void>()
    follow(promise)
    return openReservation({
      ...{ target, token, chosen, view, finish, stop, onEnd, now },
      send: (endpoint, one, body) =>
        follow(send(endpoint, one.due, { chosen: one, delivery: one.due, body })),
      look: () => {
        // A runner whose places are all taken looks when one comes free, and at an open breaker in its time.
        if (inFlight.size < pace && !view.isBlocked()) signal.ring()
      },
      isStopped: () => stopped,
    })
  }

  function stop(): void {
    stopped = true
    signal.ring()
  }

  async function send(endpoint: Endpoint, delivery: Delivery, { body, chosen }: Claimed): Promise<void> {
    try {
      await failpoint('webhooks.claimed')
      asking += 1
      const outcome = await deps.makeAttempt(endpoint, delivery, body).finally(() => {
        asking -= 1
      })
      if (abandoned) return
      await failpoint('webhooks.posted')
      // A success that changes nothing else gives its slot back while it is written, in one write with the
      // next claim.
      const early = outcome.ok && view.isFullyHealthy()
      const onWriting = () => {
        if (early) finish(chosen)
      }
      const settled = await deps.settleAttempt({
        delivery,
        outcome,
        probe: chosen.probe,
        view,
        lastSuccessAt: () => lastSuccessAt,
        onWriting,
      })
      await failpoint('webhooks.settled')
      finish(chosen)
      if (!settled.written) view.markStale()
      else if (settled.again !== null) view.putBack(settled.again)
      const { sentAt, durationMs } = outcome.record
      if (outcome.ok && delivery.eventType !== 'webhook.test') {
        lastSuccessAt = outcome.at
        deps.recordSuccesses.add(webhookId, outcome.at)
      }
      deps.onAttempt({ delivery, ok: outcome.ok, sentAt, durationMs: durationMs ?? 0 })
      logger.info(
        {
          delivery_id: delivery._id,
          event_id: delivery.eventId,
          attempt: delivery.attemptCount,
          http_status: outcome.record.httpStatus,
          error: outcome.record.error,
          duration_ms: durationMs,
          status: settled.status,
          written: settled.written,
        },
        'delivery.attempted',
      )
    } catch (err) {
      logger.error({ err, delivery_id: delivery._id }, 'delivery.interrupted')
      // The claim stands under this token. The next lease, also one of this worker, has a newer token and
      // recovers it.
      stopped = true
    } finally {
      finish(chosen)
    }
  }

  /** Gives the slot back, once. */
  function finish({ due, probe }: Chosen): void {
    if (inFlight.get(due._id) !== due) return
    inFlight.delete(due._id)
    held.gave(due._id, clock.now())
    if (probe) probeInFlight = false
    slots.give(operatorId)
    signal.ring()
  }

  async function runUntilDone(): Promise<void> {
    const released = await run().catch((err: unknown) => {
      logger.error({ err }, 'endpoint.interrupted')
      return false
    })
    while (work.size > 0) await Promise.all(work)
    if (released) return
    await leaseEndpoints
      .abandon(leased)
      .catch((err: unknown) => logger.warn({ err }, 'endpoint.not-abandoned'))
  }

  return {
    notify() {
      view.markStale()
      signal.ring()
    },
    offer(fresh) {
      view.offer(fresh)
      signal.ring()
    },
    lateness: (now) => ({ account: operatorId, ...latenessOf(asking, now) }),
    idle: () => idle,
    notifyIfBehind(workCount) {
      if (!idle || !view.isBehind(workCount)) return
      view.markStale()
      signal.ring()
    },
    reserve,
    takesNone(now) {
      if (view.isPaused()) return true
      const pace = view.pace()
      if (inFlight.size < pace || held.heldMs(now) < deferredMsMax) return false
      return view.dueCount(now) >= pace
    },
    stop,
    abandon() {
      abandoned = true
    },
    done: runUntilDone(),
  }
}
