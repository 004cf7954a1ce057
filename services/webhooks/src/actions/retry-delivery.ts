import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { presentDelivery } from '../records/webhook-records.ts'
import type { DeliveryDocument } from '../storage/collections.ts'
import { countedElsewhere } from '../storage/range-items.ts'
import { findDelivery, findDeliveryAnywhere } from './read-deliveries.ts'
import type { WebhooksContext } from '../context.ts'
import { markDue } from './mark-due.ts'

async function assertMayRetry({ endpoints }: WebhooksContext, delivery: DeliveryDocument): Promise<void> {
  const endpoint = await endpoints.known(delivery, delivery.webhookId)
  if (endpoint === null || endpoint.deletedAt !== null) {
    throw new ServiceError('CONFLICT', { message: 'The endpoint of this delivery is deleted.' })
  }
  if (endpoint.health.status === 'PAUSED' && delivery.eventType !== 'webhook.test') {
    throw new ServiceError('CONFLICT', { message: 'The endpoint is paused. Resume it first.' })
  }
}

async function retry(c: WebhooksContext, delivery: DeliveryDocument, by: ActedBy): Promise<DeliveryDocument> {
  await assertMayRetry(c, delivery)
  const now = c.clock.now()
  const before = presentDelivery(delivery)
  const after = { ...before, status: 'PENDING', next_attempt_at: now.toISOString() }
  const object = { type: 'delivery', id: delivery._id }
  const entry = c.audit.entry(by, { act: 'delivery.retry', object, before, after })
  const isWaiting = delivery.status === 'PENDING' || delivery.status === 'HELD'
  // One that was accepted at once is stored as a document of its own first.
  if (delivery.status === 'DELIVERED') await c.deliveries.insertAbsent([countedElsewhere(delivery)])
  const again = isWaiting
    ? await c.deliveries.pullForward(delivery, delivery, now, entry)
    : await c.deliveries.reopen(delivery, delivery, now, entry)
  await markDue(c, delivery.webhookId)
  if (again !== null) return again
  // It is in flight, or was a moment ago. That is what the caller asked for.
  return (await c.history.find(delivery, delivery._id)) ?? delivery
}

/**
 * Pulls a pending delivery forward; sends an ended one once more with the next attempt number.
 * @throws ServiceError NOT_FOUND; CONFLICT while its endpoint is paused (a test is sent anyway) or when that
 * is deleted
 */
export async function retryDelivery(
  c: WebhooksContext,
  caller: Caller,
  id: string,
  by: ActedBy,
): Promise<DeliveryDocument> {
  return retry(c, await findDelivery(c.history, caller, id), by)
}

/** For operations: `retryDelivery`, of a delivery of any account. */
export async function retryDeliveryAnywhere(
  c: WebhooksContext,
  order: OpsOrder,
  id: string,
  requestId: string,
): Promise<DeliveryDocument> {
  const found = await findDeliveryAnywhere(c.history, id)
  if (order.dryRun) {
    await assertMayRetry(c, found)
    return found
  }
  c.logger.info({ by: order.by, reason: order.reason, delivery_id: id }, 'ops.delivery-retried')
  return retry(c, found, orderedBy(order, found.operatorId, requestId))
}
