import { replaySlots } from '@pitboss/contracts/delivery-pace'
import type { EndpointHealth, PauseReason } from './endpoint-health.ts'

/** First tries, later tries, replays, and what a person asked for. */
export const lanes = ['fresh', 'retry', 'replay', 'manual'] as const
export type Lane = (typeof lanes)[number]

/** Counts claims, so that turns continue from one claim to the next. */
export type Turns = { readonly all: number; readonly normal: number }

const replayShare = 4
const freshPerOld = 3

type ByLane<Item> = Readonly<Record<Lane, readonly Item[]>>
type Claims<Item> = { free: number; replayFree: number; due: ByLane<Item>; turns: Turns }

/** Manual ones first, then fresh before old ones 3:1; every fourth claim is for a replay. */
export function planClaims<Item>({ free, replayFree, due, turns }: Claims<Item>) {
  let { all, normal } = turns
  const [fresh, retry] = [[...due.fresh], [...due.retry]]
  const replay = due.replay.slice(0, Math.max(0, replayFree))
  const chosen = due.manual.slice(0, free)
  while (chosen.length < free) {
    const normalDue = fresh.length + retry.length > 0
    const replayTurn = all % replayShare === replayShare - 1 || !normalDue
    const oldTurn = normal % (freshPerOld + 1) === freshPerOld
    const normalOrder = oldTurn ? [retry, fresh] : [fresh, retry]
    const order = replayTurn ? [replay, ...normalOrder] : [...normalOrder, replay]
    const queue = order.find((candidates) => candidates.length > 0)
    if (queue === undefined) break
    chosen.push(...queue.splice(0, 1))
    all += 1
    if (queue !== replay) normal += 1
  }
  return { chosen, turns: { all, normal } }
}

/** Chooses what may be claimed. `probe`: one goes through the breaker; `nextAt`: null for not by time. */
export function chooseDue<Item extends { readonly dueAt: Date; readonly eventType: string }>(state: {
  health: EndpointHealth
  inFlightMax: number
  waiting: ByLane<Item>
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
  const nextAt = earliest(all.map(({ dueAt }) => (dueAt > now ? dueAt : null)))
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

export function earliest(instants: readonly (Date | null | undefined)[]): Date | null {
  let first: Date | null = null
  for (const at of instants) if (at instanceof Date && (first === null || at < first)) first = at
  return first
}

const pauseTexts: Readonly<Record<PauseReason, string>> = {
  MANUAL: 'paused: by hand',
  FAILING: 'paused: nothing but failures for 24 hours',
  EXHAUSTED: 'paused: a delivery used up its attempts and nothing was accepted meanwhile',
  GONE: 'paused: 410 Gone',
}

export type Waiting = {
  readonly lane: Lane
  /** When a worker may claim it; `never` while it is claimed or not pending. */
  readonly dueAt: Date
  /** When its next attempt is due, for people; null when none is. */
  readonly nextAttemptAt: Date | null
  /** Attempts begun, stored before each POST. */
  readonly attemptCount: number
  /** Lease token of the worker that has it in flight, else 0. */
  readonly claimToken: number
  readonly claimedAt: Date | null
}

/** How many attempts have ended; one that is under way is counted in `attemptCount` already. */
export function attemptsEnded({ attemptCount, claimToken }: Omit<Waiting, 'dueAt'>): number {
  return claimToken > 0 ? attemptCount - 1 : attemptCount
}

/** Why a delivery is not sent yet, in plain words; `at`: the time still to come that they name. */
export type Wait = { readonly words: string; readonly at: Date | null }

type WaitingDelivery = Omit<Waiting, 'dueAt'> & {
  readonly status: string
  readonly attempts: readonly { readonly error: string | null }[]
}
type Seen = {
  readonly delivery: WaitingDelivery
  readonly health: EndpointHealth
  readonly inFlight: number
  readonly replayInFlight: number
  /** The event of the breaker's next probe. */
  readonly probing: string | null
  readonly now: Date
}

/** Why a delivery is not sent yet; null when it has ended. */
export function waitOf({ delivery, health, inFlight, replayInFlight, probing, now }: Seen): Wait | null {
  const { pace, breaker, pauseReason } = health
  if (delivery.status === 'HELD') return waits(pauseTexts[pauseReason ?? 'MANUAL'])
  if (delivery.status !== 'PENDING') return null
  const { lane, claimToken, claimedAt, nextAttemptAt, attempts } = delivery
  const next = attemptsEnded(delivery) + 1
  const replayMax = replaySlots(pace.inFlight)
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
  if (lane === 'replay' && replayInFlight >= replayMax)
    return waits(`${replayInFlight} of ${replayMax} of the replay lane in flight`)
  return waits('due now, next in line for a free worker')
}

const waits = (words: string, at: Date | null = null): Wait => ({ words, at })

/** The UTC time of day: `12:04:30`. */
const clockTime = (at: Date): string => at.toISOString().slice(11, 19)
