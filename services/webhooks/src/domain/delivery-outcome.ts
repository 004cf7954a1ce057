import { attemptDelayMs } from './schedule.ts'

/** What becomes of a delivery after an attempt. */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly dueAt: Date }
  /** No attempt is left; `scheduleSpent` is false when there was only the one (a test, a manual retry). */
  | { readonly kind: 'failed'; readonly scheduleSpent: boolean }

/**
 * Judges one attempt.
 * @param attempt its number, counted over the delivery's whole life
 * @param scheduleBase the attempts made before the present run of the schedule
 * @param single one attempt and no schedule
 * @param retryAfterMs what the receiver asked for; counts when it is later than the schedule
 * Source: contract sections 7 and 11.
 */
export function judgeAttempt({
  ok,
  at,
  attempt,
  scheduleBase,
  single,
  retryAfterMs,
  random,
  scaleMs,
}: {
  ok: boolean
  at: Date
  attempt: number
  scheduleBase: number
  single: boolean
  retryAfterMs: number | null
  random: number
  scaleMs: (ms: number) => number
}): DeliveryOutcome {
  if (ok) return { kind: 'delivered' }
  if (single) return { kind: 'failed', scheduleSpent: false }
  const delayMs = attemptDelayMs(attempt - scheduleBase + 1, random)
  if (delayMs === null) return { kind: 'failed', scheduleSpent: true }
  return { kind: 'retry', dueAt: new Date(at.getTime() + Math.max(scaleMs(delayMs), retryAfterMs ?? 0)) }
}
