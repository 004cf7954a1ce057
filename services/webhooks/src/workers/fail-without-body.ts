import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import { type DueDelivery, never } from '../storage/documents.ts'

/** Only a database restored to an earlier day can lack an event that it has a delivery of. */
export async function failWithoutBody(
  { deliveries, clock, logger }: { deliveries: DeliveryStore; clock: Clock; logger: Logger },
  delivery: DueDelivery,
): Promise<void> {
  logger.error({ delivery_id: delivery._id, event_id: delivery.eventId }, 'delivery.without-event')
  const attempt = {
    attempt: delivery.attemptCount,
    sentAt: clock.now(),
    durationMs: null,
    httpStatus: null,
    error: 'the event is not in the log any more',
    responseExcerpt: null,
    timings: null,
    hint: null,
  }
  await deliveries.complete(delivery, { status: 'FAILED', dueAt: never, nextAttemptAt: null }, attempt)
}
