import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { DueDelivery } from '../storage/documents.ts'
import type { AttemptOutcome } from './make-attempt.ts'

/**
 * An attempt that had nothing to send. Only a database restored to an earlier day can lack an event that it
 * has a delivery of; a rewind brings it back, so the schedule goes on.
 */
export function attemptWithoutBody(
  { clock, logger }: { clock: Clock; logger: Logger },
  delivery: Pick<DueDelivery, '_id' | 'eventId' | 'attemptCount'>,
): AttemptOutcome {
  logger.error({ delivery_id: delivery._id, event_id: delivery.eventId }, 'delivery.without-event')
  const at = clock.now()
  return {
    ok: false,
    asked: false,
    gone: false,
    retryAfterMs: null,
    at,
    record: {
      attempt: delivery.attemptCount,
      sentAt: at,
      durationMs: null,
      httpStatus: null,
      error: 'the event is not in the log any more',
      responseExcerpt: null,
      timings: null,
      hint: null,
    },
  }
}
