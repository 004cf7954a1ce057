import type { DurableMessage } from '@pitboss/bus/consume-durable'
import { orderedBy } from '@pitboss/contracts/audit'
import { ServiceError } from '@pitboss/errors/service-error'
import type { ParkedDocument } from '../storage/collections.ts'
import { readEventMessage } from './read-event-message.ts'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import type { CallsContext } from '../context.ts'

/* Messages that cannot be read are kept until operations have them tried again. */

/** Reads a parked message. @throws ServiceError NOT_FOUND */
export async function findParked({ parked }: CallsContext, id: string): Promise<ParkedDocument> {
  const found = await parked.read(id)
  if (found === null) throw new ServiceError('NOT_FOUND', { message: `There is no parked message ${id}.` })
  return found
}

/** Keeps the message with its error. Parking it again refreshes only the error. */
export async function parkMessage(
  { parked, clock, logger }: CallsContext,
  consumer: string,
  { seq: streamSeq, subject, id: messageId, data, deliveryCount: deliveries }: DurableMessage,
  error: string,
): Promise<void> {
  const payload = Buffer.from(data).toString('base64')
  await parked.park({
    ...{ consumer, streamSeq, subject, messageId, payload, error, deliveries, parkedAt: clock.now() },
  })
  logger.error({ stream_seq: streamSeq, subject, error }, 'message.parked')
}

/** Handles the message again. @returns its error; null for none @throws ServiceError NOT_FOUND */
export async function retryParked(
  c: CallsContext,
  order: OpsOrder,
  id: string,
  requestId: string,
): Promise<string | null> {
  const { parked, recordEvents, audit, logger } = c
  const message = await findParked(c, id)
  const entry = (after: { error: string } | null) =>
    audit.entry(orderedBy(order, null, requestId), {
      ...{ act: 'parked.retry', object: { type: 'parked', id }, after },
      before: { subject: message.subject, error: message.error },
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
}
