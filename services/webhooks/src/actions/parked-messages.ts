import type { DurableMessage } from '@pitboss/bus/consume-durable'
import { orderedBy } from '@pitboss/contracts/audit'
import { ServiceError } from '@pitboss/errors/service-error'
import type { ParkedDocument } from '../storage/collections.ts'
import { readEventMessage } from './read-event-message.ts'
import type { OpsOrder } from './retry-delivery.ts'
import type { CallsContext } from '../context.ts'

/** Keeps messages that cannot be read until operations have them tried again. */
export function createParkedMessages({ parked, recordEvents, audit, clock, logger }: CallsContext) {
  async function find(id: string): Promise<ParkedDocument> {
    const found = await parked.read(id)
    if (found === null) throw new ServiceError('NOT_FOUND', { message: `There is no parked message ${id}.` })
    return found
  }

  return {
    /** Keeps the message with its error. Parking it again refreshes the error alone. */
    async park(consumer: string, message: DurableMessage, error: string): Promise<void> {
      const { seq, subject, id, data, deliveryCount } = message
      await parked.park({
        consumer,
        streamSeq: seq,
        subject,
        messageId: id,
        payload: Buffer.from(data).toString('base64'),
        error,
        deliveries: deliveryCount,
        parkedAt: clock.now(),
      })
      logger.error({ stream_seq: seq, subject, error }, 'message.parked')
    },

    /** The longest parked first. */
    list: (limit: number): Promise<ParkedDocument[]> => parked.list(limit),

    /** @throws ServiceError NOT_FOUND */
    find,

    /**
     * Handles the message again.
     * @returns its error, or null when it was handled (or would be, in a dry run)
     */
    async retry(order: OpsOrder, id: string, requestId: string): Promise<string | null> {
      const message = await find(id)
      const entry = (after: { error: string } | null) =>
        audit.entry(orderedBy(order, null, requestId), {
          act: 'parked.retry',
          object: { type: 'parked', id },
          before: { subject: message.subject, error: message.error },
          after,
        })
      const data = Buffer.from(message.payload, 'base64')
      try {
        const event = readEventMessage({ subject: message.subject, id: message.messageId, data })
        if (!order.dryRun) {
          await recordEvents([event])
          await parked.remove(id, entry(null))
          logger.info({ by: order.by, reason: order.reason, parked_id: id }, 'ops.parked-handled')
        }
        return null
      } catch (cause) {
        const error = cause instanceof Error ? cause.message : String(cause)
        if (!order.dryRun) await parked.setError(id, error, entry({ error }))
        return error
      }
    },
  }
}
