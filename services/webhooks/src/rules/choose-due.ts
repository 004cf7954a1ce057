import { replaySlots } from '@pitboss/contracts/delivery-pace'
import type { EndpointHealth, PauseReason } from './endpoint-health.ts'

/** First tries, later tries, replays, and what a person asked for. */
export const lanes = ['fresh', 'retry', 'replay', 'manual'] as const
export type Lane = (typeof lanes)[number]

/** Counts claims, so that turns continue from one claim to the next. */
export type Turns = { readonly all: number; readonly normal: number }

const replayShare = 4
const freshPerOld = 3

/** Manual ones first, then fresh before old ones 3:1; every fourth claim is for a replay. */
export function planClaims<Item>(given: {
  free: number
  replayFree: number
  due: Readonly<Record<Lane, readonly Item[]>>
  turns: Turns
}): { chosen: Item[]; turns: Turns } {
  const { free, replayFree, due, turns } = given
  const queues = {
    fresh: [...due.fresh],
    retry: [...due.retry],
    replay: due.replay.slice(0, Math.max(0, replayFree)),
    manual: [...due.manual],
  }
  const chosen = queues.manual.splice(0, free)
  let { all, normal } = turns
  while (chosen.length < free) {
    const normalDue = queues.fresh.length + queues.retry.length > 0
    const replayTurn = all % replayShare === replayShare - 1 || !normalDue
    const oldTurn = normal % (freshPerOld + 1) === freshPerOld
    const normalOrder = oldTurn ? [queues.retry, queues.fresh] : [queues.fresh, queues.retry]
    const order = replayTurn ? [queues.replay, ...normalOrder] : [...normalOrder, queues.replay]
    const queue = order.find((candidates) => candidates.length > 0)
    if (queue === undefined) break
    chosen.push(...queue.splice(0, 1))
    all += 1
    if (queue !== queues.replay) normal += 1
  }
  return { chosen, turns: { all, normal } }
}

type Candidate = { readonly dueAt: Date; readonly eventType: string }

/**
 * Chooses what may be claimed now. A paused endpoint takes only tests; an open breaker takes manual retries
 * and one probe. @returns `probe`: the breaker lets a probe through as well; `nextAt`: when there will be
 * more, null for not by the clock
 */
export function chooseDue<Item extends Candidate>(state: {
  health: EndpointHealth
  inFlightMax: number
  waiting: Readonly<Record<Lane, readonly Item[]>>
  inFlight: number
  replayInFlight: number
  probeInFlight: boolean
  turns: Turns
  now: Date
}): { chosen: Item[]; probe: boolean; nextAt: Date | null; turns: Turns } {
  const { health, inFlightMax, waiting, inFlight, replayInFlight, probeInFlight, turns, now } = state
  const { fresh, retry, replay, manual } = waiting
  const dueOf = (lane: readonly Item[]) => lane.filter(({ dueAt }) => dueAt <= now)
  const all = [fresh, retry, replay, manual].flat()
  const nextAt = earliest(all.flatMap(({ dueAt }) => (dueAt > now ? [dueAt] : [])))
  const free = Math.max(0, inFlightMax - inFlight)
  const pace = Math.min(health.pace.inFlight, inFlightMax)
  const dueManual = dueOf(manual)
  if (health.status === 'PAUSED') {
    const tests = dueManual.filter(({ eventType }) => eventType === 'webhook.test')
    return { chosen: tests.slice(0, free), probe: false, nextAt, turns }
  }
  const { probeAt } = health.breaker
  if (probeAt !== null) {
    const chosen = dueManual.slice(0, free)
    if (probeInFlight || all.length === 0) return { chosen, probe: false, nextAt: null, turns }
    if (probeAt > now) return { chosen, probe: false, nextAt: probeAt, turns }
    return { chosen, probe: true, nextAt, turns }
  }
  const plan = planClaims({
    free: Math.min(free, Math.max(0, pace - inFlight)),
    replayFree: replaySlots(pace) - replayInFlight,
    due: { fresh: dueOf(fresh), retry: dueOf(retry), replay: dueOf(replay), manual: dueManual },
    turns,
  })
  return { chosen: plan.chosen, probe: false, nextAt, turns: plan.turns }
}

/** The first of these; null for none. */
export function earliest(instants: readonly Date[]): Date | null {
  return instants.reduce<Date | null>((first, at) => (first === null || at < first ? at : first), null)
}

const pauseTexts: Readonly<Record<PauseReason, string>> = {
  MANUAL: 'paused: by hand',
  FAILING: 'paused: nothing but failures for 24 hours',
  EXHAUSTED: 'paused: a delivery used up its attempts and nothing was accepted meanwhile',
  GONE: 'paused: 410 Gone',
}

/** The fields of a delivery that say why it waits. */
type Waiting = Attempted & {
  readonly status: string
  readonly lane: Lane
  readonly claimedAt: Date | null
  readonly nextAttemptAt: Date | null
  readonly attempts: readonly { readonly error: string | null }[]
}

type Attempted = { readonly attemptCount: number; readonly claimToken: number }

/** How many attempts have ended; one that is under way is counted in `attemptCount` already. */
export function attemptsEnded({ attemptCount, claimToken }: Attempted): number {
  return claimToken > 0 ? attemptCount - 1 : attemptCount
}

/** Why a delivery is not sent yet, in plain words; `at`: the time still to come that they name. */
export type Wait = { readonly words: string; readonly at: Date | null }

/** Why a delivery is not sent yet; null when it has ended. @param probing the breaker's next probe */
export function waitOf(state: {
  delivery: Waiting
  health: EndpointHealth
  inFlight: number
  replayInFlight: number
  probing: string | null
  now: Date
}): Wait | null {
  const { delivery, health, inFlight, replayInFlight, probing, now } = state
  const { pace, breaker, pauseReason } = health
  if (delivery.status === 'HELD') return waits(pauseTexts[pauseReason ?? 'MANUAL'])
  if (delivery.status !== 'PENDING') return null
  const { lane, claimToken, claimedAt, nextAttemptAt, attempts } = delivery
  const next = attemptsEnded(delivery) + 1
  if (claimToken > 0 && claimedAt !== null)
    return waits(`attempt ${next} is under way since ${clockTime(claimedAt)}`)
  if (breaker.probeAt !== null && lane !== 'manual') {
    const probe = probing === null ? '' : `, probing with ${probing}`
    return waits(`breaker open until ${clockTime(breaker.probeAt)}${probe}`, breaker.probeAt)
  }
  if (nextAttemptAt !== null && nextAttemptAt > now) {
    const lastError = attempts.at(-1)?.error ?? null
    const after = lastError === null ? '' : `, after ${lastError}`
    return waits(`attempt ${next} is due at ${clockTime(nextAttemptAt)}${after}`, nextAttemptAt)
  }
  if (inFlight >= pace.inFlight) return waits(`${inFlight} of ${pace.inFlight} in flight`)
  if (lane === 'replay' && replayInFlight >= replaySlots(pace.inFlight)) {
    return waits(`${replayInFlight} of ${replaySlots(pace.inFlight)} of the replay lane in flight`)
  }
  return waits('due now, next in line for a free worker')
}

function waits(words: string, at: Date | null = null): Wait {
  return { words, at }
}

/** The UTC time of day: `12:04:30`. */
function clockTime(at: Date): string {
  return at.toISOString().slice(11, 19)
}
