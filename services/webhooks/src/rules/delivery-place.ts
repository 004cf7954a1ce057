import { stepAtAge, stepsMax } from './schedule.ts'

/** The place of a delivery on its schedule. */
export type Place = {
  /** The next step, 1 to 12. */
  readonly step: number
  /** When that step is due. An earlier attempt was pulled forward and leaves the place as it is. */
  readonly stepDueAt: Date
}

/** The stored fields of a delivery. Earlier releases stored no place. */
type Stored = {
  readonly step?: number
  readonly stepDueAt?: Date
  readonly nextAttemptAt: Date | null
  readonly createdAt: Date
}

/** A delivery whose attempt `attemptCount` is under way. */
type Claimed = Stored & {
  readonly attemptCount: number
  readonly scheduleBase: number
  readonly firstAttemptAt: Date | null
}

/**
 * When the next step is due. For a delivery without a stored place: when its next attempt is due, until the
 * first pull forward.
 */
export function stepDueAtOf({ stepDueAt, nextAttemptAt, createdAt }: Stored): Date {
  return stepDueAt ?? nextAttemptAt ?? createdAt
}

/**
 * The place at which an attempt was made. A place that is not stored is derived from the attempts and from
 * the age, the lower one of the two.
 */
export function placeOf(delivery: Claimed, scaleMs: (ms: number) => number): Place {
  const { step, attemptCount, scheduleBase, firstAttemptAt } = delivery
  const stepDueAt = stepDueAtOf(delivery)
  if (step !== undefined) return { step, stepDueAt }
  const ageMs = firstAttemptAt === null ? 0 : stepDueAt.getTime() - firstAttemptAt.getTime()
  const derived = Math.min(attemptCount - scheduleBase, stepAtAge(ageMs, scaleMs), stepsMax)
  return { step: Math.max(1, derived), stepDueAt }
}
