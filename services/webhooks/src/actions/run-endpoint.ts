import { failpoint } from '@pitboss/runtime/failpoint'
import { partition } from '@pitboss/runtime/partition'
import { createSignal } from '@pitboss/runtime/poll'
import type { Choice, Chosen, ClaimDeliveries, Claimed } from './claim-deliveries.ts'
import type { Deps } from './deps.ts'
import { createEndpointLateness, type LateEndpoint } from './endpoint-lateness.ts'
import { openEndpointView } from './endpoint-view.ts'
import type { MakeAttempt } from './make-attempt.ts'
import { aheadOf, openPassing, type PassEvents } from './pass-events.ts'
import type { RecordSuccesses, RecoverOrphans, SettleAttempt } from './settle-attempt.ts'
import { openNarrowings } from '../rules/put-aside.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import type { TakenEndpoint } from '../storage/endpoint-store.ts'
import { createHeldSlots } from './held-slots.ts'
import type { Slots } from './slots.ts'

/*
 * The invariant of this loop. The signal is notified after every change that can let it do more: new events,
 * new work, a changed endpoint, the end of an attempt, a stored range, a free slot, a stop. A notification
 * during a turn of the loop is kept for its next wait, so none is lost; and since every turn chooses from
 * what is known then, a notification too many does no harm.
 */

const recheckMs = 5000
/** An endpoint keeps its places for long from here on. */
const stuckMs = 1000
/** An endpoint that takes nothing stores what is new many at a time. */
const shutTurnMs = 400

export type RunnerDeps = Deps & {
  readonly claimDeliveries: ClaimDeliveries
  readonly makeAttempt: MakeAttempt
  readonly settleAttempt: SettleAttempt
  readonly recoverOrphans: RecoverOrphans
  readonly recordSuccesses: RecordSuccesses
  readonly slots: Slots
  /** Whether this process may act under its leases. */
  readonly isAlive: () => boolean
  readonly onAttempt: (attempt: {
    delivery: DueDelivery
    ok: boolean
    sentAt: Date
    durationMs: number
  }) => void
}

export type EndpointRunner = {
  /** Has everything read again: stored work may have become due, or the endpoint has changed. */
  notify(): void
  /** Notes that the log of its account has come to `seq`. */
  noteEnd(seq: number): void
  /** Takes the endpoint over as it was read at `atMs` on the steady clock. */
  see(endpoint: EndpointDocument, atMs: number): void
  /** Notifies a runner that does not know all the work of this count. */
  notifyIfBehind(workCount: number): void
  /** How late its deliveries are; asked at even intervals. */
  lateness(now: Date): LateEndpoint
  /** Begins no more attempts; `done` resolves when those in flight have ended and are stored. */
  stop(): void
  /** Forgets the attempts in flight: the process ends, and the next holder of the lease repeats them. */
  abandon(): void
  /** Its end: whether the lease was given back. */
  readonly done: Promise<boolean>
}

/** Delivers to one endpoint under its lease until it is told to stop or loses it. */
export function runEndpoint(deps: RunnerDeps, taken: TakenEndpoint): EndpointRunner {
  const { claimDeliveries, endpoints, deliveries, slots, clock } = deps
  const { _id: webhookId, operatorId, leaseToken: token } = taken.endpoint
  const logger = deps.logger.child({ webhook_id: webhookId })
  const signal = createSignal()
  const inFlight = new Map<string, DueDelivery>()
  const held = createHeldSlots()
  const work = new Set<Promise<void>>()
  const view = openEndpointView(deps, taken.endpoint, inFlight)
  let passing: PassEvents | null = null
  let endNoted = 0
  let leaseAhead = taken.endpoint.leaseAhead ?? 0
  let stopped = false
  let abandoned = false
  /** An attempt ended and could not be written: nothing of it is known to be on record. */
  let isUnclean = false
  let turns: Choice['turns'] = { all: 0, normal: 0 }
  let probeInFlight = false
  /** Attempts that are at the receiver. */
  let asking = 0
  let lastSuccessAt: Date | null = null
  let shutTimer: NodeJS.Timeout | null = null

  function ringLater(): void {
    shutTimer = null
    signal.ring()
  }

  const mayAct = () => !abandoned && deps.isAlive()
  const latenessOf = createEndpointLateness({
    isFullyHealthy: view.isFullyHealthy,
    isShut: view.isShut,
    pace: view.pace,
    firstNew,
    firstDueAt: () => firstNew()?.dueAt ?? view.firstDueAt(),
  })

  /** The first new delivery that waits. */
  function firstNew(): DueDelivery | null {
    const [stored] = view.waiting().fresh
    return stored ?? passing?.first() ?? null
  }

  async function run(): Promise<void> {
    passing = await openPassing(deps, taken.endpoint, {
      mayHaveSent: taken.mayHaveSent,
      // Ranges and the lease are fenced: what was sent is written also by a process that others may take for
      // dead.
      mayWrite: () => !abandoned,
      onStored: view.putBack,
      onChange: signal.ring,
    })
    if (passing === null) {
      isUnclean = true
      return
    }
    if (!taken.isClean) {
      const orphans = await deps.recoverOrphans(webhookId, token)
      if (orphans > 0) logger.warn({ deliveries: orphans }, 'deliveries.recovered')
    }
    passing.noteEnd(endNoted)
    while (!stopped && mayAct()) {
      if (!(await turn(passing))) return
    }
  }

  /** One look at everything. @returns false when the lease is lost, or nothing is ever left to do */
  async function turn(passes: PassEvents): Promise<boolean> {
    await passes.readOn()
    if (passes.isLost() || !(await view.refresh()) || !(await keepAhead())) {
      isUnclean = true
      return false
    }
    const endpoint = view.endpoint()
    const againMs = passes.putAside(endpoint, clock.now(), isStuck())
    const { nextAt, starved } = await sendDue(passes, endpoint)
    if (endpoint.deletedAt !== null && passes.isDone() && work.size === 0) {
      await endpoints.close(webhookId, token)
      return false
    }
    await forgetNarrowings(endpoint, passes.cursor())
    // An attempt in flight notifies at its end anyway; a free slot is for endpoints that have none.
    if (starved && inFlight.size === 0) slots.notifyWhenFree(operatorId, signal.ring)
    const untilNextMs = nextAt === null ? recheckMs : Math.max(0, nextAt.getTime() - clock.now().getTime())
    const waitMs = Math.min(recheckMs, untilNextMs, againMs ?? recheckMs)
    // Nothing waits but for the clock: then it is not looked at by itself.
    const isIdle = nextAt === null && againMs === null && inFlight.size === 0 && !starved
    await signal.wait(isIdle ? 2 ** 31 - 1 : waitMs)
    return true
  }

  /** Removes narrowings that can cancel nothing any more, since their events are passed. */
  async function forgetNarrowings({ narrowings = [] }: EndpointDocument, cursor: number): Promise<void> {
    if (openNarrowings(narrowings, cursor).length === narrowings.length) return
    await endpoints.forgetNarrowings(webhookId, cursor)
    view.markStale()
  }

  /**
   * Whether all its places are taken, and kept for so long that what is new cannot be sent within a second.
   */
  function isStuck(): boolean {
    return inFlight.size >= view.pace() && held.heldMs(clock.now()) >= stuckMs
  }

  /**
   * Has it on record how far ahead of its last range the worker may send. @returns false when the lease is
   * lost
   */
  async function keepAhead(): Promise<boolean> {
    const ahead = aheadOf(view.endpoint())
    if (ahead <= leaseAhead) return true
    if (!(await endpoints.raiseAhead(webhookId, token, ahead))) return false
    leaseAhead = ahead
    return true
  }

  async function sendDue(
    passes: PassEvents,
    endpoint: EndpointDocument,
  ): Promise<{ nextAt: Date | null; starved: boolean }> {
    const now = clock.now()
    const stored = view.waiting()
    const ahead = Math.min(aheadOf(endpoint), leaseAhead)
    const choice = await claimDeliveries.choose({
      ...{ endpoint, probeInFlight, turns, now, inFlight: [...inFlight.values()] },
      waiting: { ...stored, fresh: [...stored.fresh, ...passes.sendable(ahead)] },
    })
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
    await start(passes, endpoint, chosen.slice(0, granted), now)
    return { nextAt, starved: granted < chosen.length }
  }

  /** Sends them; the slot of one that could not be claimed is given back. */
  async function start(
    passes: PassEvents,
    endpoint: EndpointDocument,
    chosen: readonly Chosen[],
    now: Date,
  ): Promise<void> {
    if (chosen.length === 0) return
    for (const { due, probe } of chosen) {
      inFlight.set(due._id, due)
      held.took(due._id, now)
      if (probe) probeInFlight = true
    }
    const [fresh, stored] = partition(chosen, ({ due }) => passes.has(due._id))
    for (const one of fresh) {
      const sent = mayAct() ? passes.send(one.due._id, now) : null
      if (sent === null) finish(one)
      else
        follow(send(passes, endpoint, sent.claimed, { chosen: one, delivery: sent.claimed, body: sent.body }))
    }
    if (stored.length === 0) return
    view.remove(new Set(stored.map(({ due }) => due._id)))
    try {
      for (const one of await claimDeliveries.claim(endpoint, stored, token, now)) {
        if (one.delivery === null) {
          view.markStale()
          finish(one.chosen)
          continue
        }
        follow(send(passes, endpoint, one.delivery, one))
      }
    } catch (err) {
      // Any of them may be claimed; the next holder of the lease recovers those.
      for (const one of stored) finish(one)
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

  function stop(): void {
    stopped = true
    signal.ring()
  }

  async function send(
    passes: PassEvents,
    endpoint: EndpointDocument,
    delivery: DueDelivery,
    { body, chosen }: Claimed,
  ): Promise<void> {
    const isFresh = passes.has(delivery._id)
    try {
      await failpoint('webhooks.claimed')
      asking += 1
      const outcome = await deps.makeAttempt(endpoint, delivery, body).finally(() => {
        asking -= 1
      })
      if (abandoned) return
      await failpoint('webhooks.posted')
      // A success that changes nothing else gives its slot back while it is written; a new one may wait for
      // others of its range.
      const early = outcome.ok && (isFresh || view.isFullyHealthy())
      const onWriting = () => {
        if (early) finish(chosen)
      }
      const settled = await deps.settleAttempt({
        ...{ delivery, outcome, probe: chosen.probe, view, onWriting },
        complete: isFresh ? passes.complete : deliveries.complete,
        lastSuccessAt: () => lastSuccessAt,
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
      // Its outcome is not on record. The next lease, also one of this worker, counts it as interrupted.
      isUnclean = true
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

  async function runUntilDone(): Promise<boolean> {
    await run().catch((err: unknown) => {
      isUnclean = true
      logger.error({ err }, 'endpoint.interrupted')
    })
    // Attempts that take long are stored while they are under way, as in a turn.
    while (work.size > 0 && !abandoned) {
      const againMs = passing?.putAside(view.endpoint(), clock.now(), isStuck()) ?? recheckMs
      await signal.wait(againMs)
    }
    await passing?.drain()
    const isSettled = passing !== null && !passing.isLost() && passing.isSettled()
    if (isUnclean || abandoned || !isSettled) return false
    try {
      await endpoints.release(webhookId, token)
      return true
    } catch (err) {
      logger.warn({ err }, 'endpoint.not-released')
      return false
    }
  }

  return {
    notify() {
      view.markStale()
      signal.ring()
    },
    noteEnd(seq) {
      endNoted = Math.max(endNoted, seq)
      if (passing?.noteEnd(seq) !== true) return
      if (view.isShut() || isStuck()) shutTimer ??= setTimeout(ringLater, shutTurnMs)
      else signal.ring()
    },
    see: view.see,
    notifyIfBehind(workCount) {
      if (workCount === view.countRead()) return
      view.markStale()
      signal.ring()
    },
    lateness: (now) => ({ account: operatorId, ...latenessOf(asking, now) }),
    stop,
    abandon() {
      abandoned = true
      signal.ring()
    },
    done: runUntilDone(),
  }
}
