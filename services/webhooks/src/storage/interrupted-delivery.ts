import type { Place } from '../rules/retry-schedule.ts'
import type { AttemptRecord, DeliveryDocument, DueDelivery } from './collections.ts'
import { claimedOf, type NewDelivery, newDue } from './new-delivery.ts'

/** The place on its schedule of a delivery whose attempt, begun at `sentAt`, has an unknown outcome. */
export type PlaceAfter = (orphan: DueDelivery, sentAt: Date) => Place

/**
 * What becomes of a delivery in flight when its worker is gone: it is due again, and the attempt stays on
 * record with an unknown outcome.
 */
export function afterInterruption(orphan: DueDelivery, now: Date, placeAfter: PlaceAfter) {
  const { attemptCount, claimedAt, lane, firstAttemptAt } = orphan
  const sentAt = claimedAt ?? now
  const attempt: AttemptRecord = {
    ...{ attempt: attemptCount, sentAt, durationMs: null, httpStatus: null },
    error: 'interrupted: the worker went away, the outcome is unknown',
    ...{ responseExcerpt: null, timings: null, hint: null, storedAt: now },
  }
  const fields = {
    ...{ claimToken: 0, claimedAt: null, dueAt: now, nextAttemptAt: now },
    ...placeAfter(orphan, sentAt),
    lane: lane === 'fresh' ? 'retry' : lane,
    firstAttemptAt: firstAttemptAt ?? sentAt,
    attemptedAt: now,
  } as const
  return { fields, attempt }
}

/**
 * A delivery that was never stored although its event is recorded: the process that made it may have sent it
 * under the number of its first attempt.
 */
export function newInterrupted(delivery: NewDelivery, now: Date, placeAfter: PlaceAfter): DeliveryDocument {
  const orphan = claimedOf(newDue(delivery), 0, delivery.createdAt)
  const { fields, attempt } = afterInterruption(orphan, now, placeAfter)
  return { ...orphan, ...fields, attempts: [attempt] }
}
