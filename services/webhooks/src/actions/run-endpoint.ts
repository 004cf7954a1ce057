import { setImmediate as turn } from 'node:timers/promises'
import { openNarrowings, waitingMsMax } from '../rules/subscription.ts'
import type { TakenEndpoint } from '../storage/endpoint-store.ts'
import { knownTo } from '../rules/passage.ts'
import { EndpointRun, firstFresh, knownMax, mayAct, type RunContext } from './endpoint-run.ts'
import { putAside, readOn } from './pass-events.ts'
import { sendDue } from './send-due.ts'
import { drain } from './store-passing.ts'
import { openPassage } from './take-over-passage.ts'

/*
 * The invariant of this loop: the signal is notified after every change that can let it do more. A
 * notification during a turn is kept for its next wait, so none is lost; every turn chooses from what is
 * known then, so one too many does no harm.
 */

const recheckMs = 5000
/** An endpoint that takes nothing stores what is new many at a time. */
const shutTurnMs = 400
/** The longest time of a timer. */
const foreverMs = 2 ** 31 - 1

export function runEndpoint(c: RunContext, taken: TakenEndpoint): EndpointRun {
  const run = new EndpointRun(c, taken)
  run.done = runUntilDone(c, run)
  return run
}

/** Marks the view stale: stored work may have become due, or the endpoint has changed. */
export function notifyRun({ view, signal }: EndpointRun): void {
  view.markStale()
  signal.ring()
}

/** Begins no more attempts; `done` resolves when those in flight have ended and are stored. */
export function stopRun(run: EndpointRun): void {
  run.stopped = true
  run.signal.ring()
}

/** Forgets the attempts in flight: the process ends, and the next holder of the lease repeats them. */
export function abandonRun(run: EndpointRun): void {
  run.abandoned = true
  run.signal.ring()
}

export type LateEndpoint = ReturnType<typeof latenessOfRun>

/** Measures how late the deliveries are; called at even intervals. */
export function latenessOfRun(run: EndpointRun, now: Date) {
  const { view } = run
  const first = view.waiting().fresh[0] ?? firstFresh(run)
  const lateness = run.latenessOf({
    ...{ healthy: view.isFullyHealthy() && !view.isShut(), first },
    ...{ firstDueAt: first?.dueAt ?? view.firstDueAt(), busyShare: run.asking / view.pace(), now },
  })
  return { account: run.scope.operatorId, ...lateness }
}

export function noteLogEnd(run: EndpointRun, seq: number): void {
  if (seq <= run.endNoted) return
  run.endNoted = seq
  if (!run.view.isShut()) return run.signal.ring()
  run.shutTimer ??= setTimeout(() => {
    run.shutTimer = null
    run.signal.ring()
  }, shutTurnMs)
}

/** @returns whether the lease was given back */
async function runUntilDone(c: RunContext, run: EndpointRun): Promise<boolean> {
  await runLoop(c, run).catch((err: unknown) => {
    run.isUnclean = true
    run.logger.error({ err }, 'endpoint.interrupted')
  })
  // Attempts that take long are stored while they are under way, as in a turn.
  while (run.work.size > 0 && !run.abandoned) await run.signal.wait(putAside(c, run) ?? recheckMs)
  await drain(run)
  const isSettled = run.settling === null && run.storing.size === 0 && run.accepted.size === 0
  if (run.isUnclean || run.abandoned || run.isLost || !isSettled) return false
  try {
    await c.endpoints.release(run.webhookId, run.token)
    return true
  } catch (err) {
    run.logger.warn({ err }, 'endpoint.not-released')
    return false
  }
}

async function runLoop(c: RunContext, run: EndpointRun): Promise<void> {
  if (!(await openPassage(c, run))) {
    run.isUnclean = true
    return
  }
  if (run.taken.mayHaveSent > 0) {
    const orphans = await c.deliveries.recoverOrphans(run.webhookId, run.token, c.clock.now(), c)
    if (orphans > 0) run.logger.warn({ deliveries: orphans }, 'deliveries.recovered')
  }
  while (!run.stopped && mayAct(c, run)) if (!(await takeTurn(c, run))) return
}

/** One look at everything. @returns false when the lease is lost, or nothing is ever left to do */
async function takeTurn(c: RunContext, run: EndpointRun): Promise<boolean> {
  const { view, inFlight, signal } = run
  await readOn(c, run, knownMax(c, run))
  if (run.isLost || !(await view.refresh())) {
    run.isUnclean = true
    return false
  }
  const { deletedAt } = view.endpoint()
  const againMs = putAside(c, run)
  const { nextAt, starved } = await sendDue(c, run)
  const { passage, endNoted, storing } = run
  const isPassed = knownTo(passage) >= endNoted && passage.known.length === 0 && storing.size === 0
  if (deletedAt !== null && isPassed && run.work.size === 0) {
    await c.endpoints.close(run.webhookId, run.token)
    return false
  }
  await forgetNarrowings(c, run)
  const lateInMs = await noteLate(c, run)
  // An attempt in flight notifies at its end anyway; a free slot is for endpoints that have none.
  if (starved && inFlight.size === 0) c.slots.notifyWhenFree(run.scope.operatorId, signal.ring)
  const untilNextMs = nextAt === null ? recheckMs : Math.max(0, nextAt.getTime() - c.clock.now().getTime())
  const waitMs = Math.min(recheckMs, untilNextMs, againMs ?? recheckMs, lateInMs ?? recheckMs)
  // Nothing waits but for the clock: then it is not looked at by itself.
  const isIdle = (nextAt ?? againMs ?? lateInMs) === null && inFlight.size === 0 && !starved
  await signal.wait(isIdle ? foreverMs : waitMs)
  // Attempts that end together are followed by one look.
  await turn()
  return true
}

/** Makes lists read from the log what waits there for a second. @returns ms until due again; null for not */
async function noteLate(c: RunContext, run: EndpointRun): Promise<number | null> {
  const first = firstFresh(run)
  // What waited no more may still be on its way to be stored.
  run.lateTo = first === null ? (run.lateTo ?? run.endNoted) : null
  if (run.isLate === (first !== null)) return null
  if (run.lateTo !== null && run.passage.cursor < run.lateTo) return null
  const leftMs = first === null ? 0 : first.createdAt.getTime() + waitingMsMax - c.clock.now().getTime()
  if (leftMs > 0) return leftMs
  run.isLate = first !== null
  await c.endpoints.noteLate(run.webhookId, run.token, run.isLate)
  return null
}

/** Removes narrowings that can cancel nothing any more, since their events are passed. */
async function forgetNarrowings(c: RunContext, { webhookId, view, passage }: EndpointRun): Promise<void> {
  const { narrowings = [] } = view.endpoint()
  if (openNarrowings(narrowings, passage.cursor).length === narrowings.length) return
  await c.endpoints.forgetNarrowings(webhookId, passage.cursor)
  view.markStale()
}
