import { stepAtAge, stepsMax } from './schedule.ts'

/** Where a delivery stands on its schedule. */
export type Place = {
  /** The step whose attempt is the schedule's next one, 1 to 12. */
  readonly step: number
  /** When that is due. What is sent earlier was pulled forward and leaves the place as it is. */
  readonly stepDueAt: Date
}

/** What is kept of a delivery. Earlier releases kept no place. */
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
 * When the next step is due; of a delivery that has no place yet, when its next attempt is, as long as
 * nothing pulls that forward.
 */
export function stepDueAtOf({ stepDueAt, nextAttemptAt, createdAt }: Stored): Date {
  return stepDueAt ?? nextAttemptAt ?? createdAt
}

/**
 * The place at which an attempt was made. One that is not kept is told by the attempts and by the age,
 * whichever says less.
 */
export function placeOf(delivery: Claimed, scaleMs: (ms: number) => number): Place {
  const { step, attemptCount, scheduleBase, firstAttemptAt } = delivery
  const stepDueAt = stepDueAtOf(delivery)
  if (step !== undefined) return { step, stepDueAt }
  const ageMs = firstAttemptAt === null ? 0 : stepDueAt.getTime() - firstAttemptAt.getTime()
  const derived = Math.min(attemptCount - scheduleBase, stepAtAge(ageMs, scaleMs), stepsMax)
  return { step: Math.max(1, derived), stepDueAt }
}
