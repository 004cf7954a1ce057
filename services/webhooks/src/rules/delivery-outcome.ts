import { attemptDelayMs, earliestAgeMs, livesAtLeastMs, type Place } from './retry-schedule.ts'

export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly place: Place }
  /** `scheduleSpent` is false for a delivery with only one attempt (a test, a manual retry). */
  | { readonly kind: 'failed'; readonly scheduleSpent: boolean }

type Attempt = {
  /** The place on the schedule at which the attempt was made. */
  readonly place: Place
  readonly startedAt: Date
  readonly at: Date
  /** The first attempt of the present run of the schedule. */
  readonly firstAttemptAt: Date
  /** The delay that the receiver asked for; it counts when it ends later than the schedule says. */
  readonly retryAfterMs: number | null
  /** 0 to 1, drawn by the caller. */
  readonly random: number
  readonly scaleMs: (ms: number) => number
}

/** @param single one attempt and no schedule. Source: docs/contract.md, sections 7, 11 and 12. */
export function judgeAttempt(attempt: Attempt & { ok: boolean; single: boolean }): DeliveryOutcome {
  if (attempt.ok) return { kind: 'delivered' }
  if (attempt.single) return { kind: 'failed', scheduleSpent: false }
  const place = placeAfter(attempt)
  return place === null ? { kind: 'failed', scheduleSpent: true } : { kind: 'retry', place }
}

/** After an attempt whose worker died: sent again at once; one that used up its step moves on. */
export function placeAfterInterruption(attempt: Omit<Attempt, 'at' | 'retryAfterMs'>): Place {
  return placeAfter({ ...attempt, at: attempt.startedAt, retryAfterMs: null }) ?? attempt.place
}

/** An attempt before the due time of the step uses none up. Null when the schedule is spent. */
function placeAfter(attempt: Attempt): Place | null {
  const { startedAt, at, firstAttemptAt, retryAfterMs, random, scaleMs } = attempt
  const { step, stepDueAt } = attempt.place
  const askedFor = after(at, retryAfterMs ?? 0)
  if (startedAt < stepDueAt)
    return { step, stepDueAt: retryAfterMs === null ? stepDueAt : latest(stepDueAt, askedFor) }
  const delayMs = attemptDelayMs(step + 1, random)
  if (delayMs === null) {
    const end = after(firstAttemptAt, scaleMs(livesAtLeastMs))
    return startedAt < end ? { step, stepDueAt: latest(end, askedFor) } : null
  }
  const earliest = after(firstAttemptAt, scaleMs(earliestAgeMs(step + 1)))
  return { step: step + 1, stepDueAt: latest(after(at, scaleMs(delayMs)), earliest, askedFor) }
}

function after(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms)
}

function latest(...instants: readonly Date[]): Date {
  return new Date(Math.max(...instants.map((at) => at.getTime())))
}
