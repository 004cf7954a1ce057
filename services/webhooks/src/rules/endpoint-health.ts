import { fasterPace, type Pace, slowestPace } from '@pitboss/contracts/delivery-pace'
import type { EventType } from '@pitboss/contracts/objects/event'
import type { ScaleMs } from './retry-schedule.ts'

/** Streak, breaker, pause and pace of an endpoint. Source: docs/contract.md, sections 7, 11 and 12. */

const secondMs = 1000
const hourMs = 60 * 60 * secondMs

const inFlightMaxDefault = 8
const breakerFailures = 10
const probeFirstMs = 30 * secondMs
const probeLastMs = 5 * 60 * secondMs
const probesPerRound = 3
const failingAfterMs = 24 * hourMs
const failingAttemptsMin = 10

/** A test is delivered, too, and is no event. */
export type DeliveredType = EventType | 'webhook.test'

export type PauseReason = 'MANUAL' | 'FAILING' | 'EXHAUSTED' | 'GONE'

export type EndpointHealth = {
  readonly status: 'ACTIVE' | 'PAUSED'
  readonly pauseReason: PauseReason | null
  /** Failures since the last success. `number` distinguishes streaks. */
  readonly streak: {
    readonly number: number
    readonly attempts: number
    readonly deliveries: number
    readonly since: Date | null
  }
  readonly breaker: {
    /** When the next probe is due; null while the breaker is closed. */
    readonly probeAt: Date | null
    readonly intervalMs: number
    /** Probes that have failed since it opened; absent before the first opening. */
    readonly probes?: number
    /** Types of failed probes, the one that failed longest ago first. */
    readonly refusedTypes?: readonly DeliveredType[]
    /** When a success last closed it; rises with each closing. Earlier releases stored none. */
    readonly closedAt?: Date | null
  }
  /** Attempts in flight now (1, 2, 4 … since the breaker closed or a pause ended), with successes at it. */
  readonly pace: Pace
  readonly lastSuccessAt: Date | null
}

export type AttemptResult = {
  readonly at: Date
  readonly ok: boolean
  /** The receiver answered 410. */
  readonly gone: boolean
  /** The breaker let it through as its probe. */
  readonly probe: boolean
  readonly eventType: DeliveredType
  /** The failed attempt was the last of its schedule. */
  readonly exhausted: boolean
  readonly firstAttemptAt: Date
  /** The streak in which the delivery failed before, or null. */
  readonly failedInStreak: number | null
}

/** The most attempts in flight of an endpoint: its own setting, else 8. */
export function inFlightMaxOf({ maxInFlight }: { readonly maxInFlight?: number }): number {
  return maxInFlight ?? inFlightMaxDefault
}

export function newHealth(inFlightMax = inFlightMaxDefault): EndpointHealth {
  return {
    ...{ status: 'ACTIVE', pauseReason: null, lastSuccessAt: null },
    streak: { number: 1, attempts: 0, deliveries: 0, since: null },
    breaker: { probeAt: null, intervalMs: 0, closedAt: null },
    pace: { inFlight: inFlightMax, successes: 0 },
  }
}

export const freshHealth = newHealth()

/** Whether it takes no new delivery for now: it is paused, or its breaker is open. */
export function isShut({ status, breaker }: EndpointHealth): boolean {
  return status === 'PAUSED' || breaker.probeAt !== null
}

/** Health after one attempt at a real delivery, never at a `webhook.test`. */
export function afterAttempt(
  health: EndpointHealth,
  result: AttemptResult,
  scaleMs: ScaleMs,
  inFlightMax = inFlightMaxDefault,
): EndpointHealth {
  return result.ok ? afterSuccess(health, result.at, inFlightMax) : afterFailure(health, result, scaleMs)
}

/** The oldest delivery, or one of any type but these, else of the first of these that has one. */
export type Probe = 'oldest' | { readonly afterTypes: readonly DeliveredType[] }

/** Every third probe is of a type's turn: who refuses some events for ever would else never get others. */
export function nextProbe({ breaker: { probes = 0, refusedTypes = [] } }: EndpointHealth): Probe {
  return probes % probesPerRound === probesPerRound - 1 ? { afterTypes: refusedTypes } : 'oldest'
}

/** Whether a success changes nothing but its time. */
export function isFullyHealthy(health: EndpointHealth, inFlightMax = inFlightMaxDefault): boolean {
  return health.streak.attempts === 0 && health.pace.inFlight >= inFlightMax
}

/** The closing of the breaker whose backlog waits for its pull, or null; `doneFor` is the last done. */
export function backlogOwedFor(
  { status, breaker: { probeAt, closedAt = null } }: EndpointHealth,
  doneFor: Date | null,
) {
  if (status === 'PAUSED' || probeAt !== null || closedAt === null) return null
  return doneFor === null || closedAt > doneFor ? closedAt : null
}

export function paused(health: EndpointHealth): EndpointHealth {
  return health.status === 'PAUSED' ? health : { ...health, status: 'PAUSED', pauseReason: 'MANUAL' }
}

/** Resumes with an ended streak and a closed breaker; an active endpoint stays as it is. */
export function resumed(health: EndpointHealth): EndpointHealth {
  if (health.status === 'ACTIVE') return health
  const active = { status: 'ACTIVE', pauseReason: null, pace: slowestPace } as const
  const breaker = { ...health.breaker, probeAt: null, intervalMs: 0 }
  return { ...health, ...active, streak: endedStreak(health), breaker }
}

/** Only the success that closes the breaker pulls the backlog forward and starts the pace at its slowest. */
function afterSuccess(health: EndpointHealth, at: Date, inFlightMax: number): EndpointHealth {
  const streak = health.streak.attempts > 0 ? endedStreak(health) : health.streak
  const succeeded = { ...health, streak, lastSuccessAt: at }
  const { probeAt, closedAt = null, refusedTypes = [] } = health.breaker
  if (probeAt === null) return { ...succeeded, pace: fasterPace(health.pace, inFlightMax) }
  const afterLast = closedAt === null ? at : new Date(Math.max(at.getTime(), closedAt.getTime() + 1))
  const breaker = { probeAt: null, intervalMs: 0, closedAt: afterLast, refusedTypes }
  return { ...succeeded, breaker, pace: slowestPace }
}

/** The pace stays: an event that is refused must not hold up others. If all are, the breaker opens. */
function afterFailure(health: EndpointHealth, result: AttemptResult, scaleMs: ScaleMs): EndpointHealth {
  const { number, attempts, deliveries, since } = health.streak
  const streak = {
    ...{ number, attempts: attempts + 1, since: since ?? result.at },
    deliveries: deliveries + (result.failedInStreak === number ? 0 : 1),
  }
  const failed = { ...health, streak, breaker: breakerAfterFailure(health, result, scaleMs) }
  const pauseReason = health.status === 'PAUSED' ? health.pauseReason : pauseAfter(failed, result, scaleMs)
  return { ...failed, status: pauseReason === null ? 'ACTIVE' : 'PAUSED', pauseReason }
}

function pauseAfter(health: EndpointHealth, result: AttemptResult, scaleMs: ScaleMs): PauseReason | null {
  const { streak, lastSuccessAt } = health
  const { at, gone, exhausted, firstAttemptAt } = result
  if (gone) return 'GONE'
  if (exhausted && (lastSuccessAt === null || lastSuccessAt < firstAttemptAt)) return 'EXHAUSTED'
  const failingForMs = at.getTime() - (streak.since ?? at).getTime()
  const failing = failingForMs >= scaleMs(failingAfterMs) && streak.attempts >= failingAttemptsMin
  return failing ? 'FAILING' : null
}

/** The breaker after one more failure than `health` counts. */
function breakerAfterFailure({ breaker, streak }: EndpointHealth, result: AttemptResult, scaleMs: ScaleMs) {
  const { probeAt, probes = 0, refusedTypes = [] } = breaker
  const probeIn = (ms: number) => ({ probeAt: new Date(result.at.getTime() + scaleMs(ms)), intervalMs: ms })
  if (probeAt === null) {
    if (streak.attempts + 1 < breakerFailures) return breaker
    return { ...breaker, ...probeIn(probeFirstMs), probes: 0, refusedTypes }
  }
  if (!result.probe) return breaker
  const others = refusedTypes.filter((type) => type !== result.eventType)
  const next = probeIn(Math.min(breaker.intervalMs * 2, probeLastMs))
  return { ...breaker, ...next, probes: probes + 1, refusedTypes: [...others, result.eventType] }
}

function endedStreak({ streak }: EndpointHealth): EndpointHealth['streak'] {
  return { number: streak.number + 1, attempts: 0, deliveries: 0, since: null }
}
