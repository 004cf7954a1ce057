import { type ActedBy, type AuditEntry, orderedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { presentDelivery } from '../records/webhook-records.ts'
import type { DeliveryDocument } from '../storage/collections.ts'
import { countedElsewhere } from '../storage/range-items.ts'
import { findDelivery, findDeliveryAnywhere } from './read-deliveries.ts'
import type { WebhooksContext } from '../context.ts'
import { markDue } from './mark-due.ts'

/** An order on the operations command: who gives it and why. A dry run changes nothing. */
export type OpsOrder = { readonly by: string; readonly reason: string | null; readonly dryRun: boolean }

export function createRetryDelivery(deps: WebhooksContext) {
  const { endpoints, deliveries, history, audit, clock, logger } = deps

  async function assertMayRetry(delivery: DeliveryDocument): Promise<void> {
    const endpoint = await endpoints.known(delivery, delivery.webhookId)
    if (endpoint === null || endpoint.deletedAt !== null) {
      throw new ServiceError('CONFLICT', { message: 'The endpoint of this delivery is deleted.' })
    }
    if (endpoint.health.status === 'PAUSED' && delivery.eventType !== 'webhook.test') {
      throw new ServiceError('CONFLICT', { message: 'The endpoint is paused. Resume it first.' })
    }
  }

  async function retry(delivery: DeliveryDocument, by: ActedBy): Promise<DeliveryDocument> {
    await assertMayRetry(delivery)
    const now = clock.now()
    const before = presentDelivery(delivery)
    const after = { ...before, status: 'PENDING', next_attempt_at: now.toISOString() }
    const object = { type: 'delivery', id: delivery._id }
    const entry = audit.entry(by, { act: 'delivery.retry', object, before, after })
    const again =
      delivery.status === 'PENDING' || delivery.status === 'HELD'
        ? await deliveries.pullForward(delivery, delivery, now, entry)
        : await reopen(delivery, now, entry)
    await markDue(deps, delivery.webhookId)
    if (again !== null) return again
    // It is in flight, or was a moment ago. That is what the caller asked for.
    return (await history.find(delivery, delivery._id)) ?? delivery
  }

  /** One that was accepted at once is stored as a document of its own first. */
  async function reopen(delivery: DeliveryDocument, now: Date, entry: AuditEntry) {
    if (delivery.status === 'DELIVERED') await deliveries.insertAbsent([countedElsewhere(delivery)])
    return deliveries.reopen(delivery, delivery, now, entry)
  }

  return {
    /**
     * Pulls a pending delivery forward, beside its schedule; sends an ended one once more with the next
     * attempt number.
     * @throws ServiceError NOT_FOUND; CONFLICT while its endpoint is paused (a test is sent anyway) or when
     * that is deleted
     */
    retry: async (scopes: readonly Scope[], id: string, by: ActedBy): Promise<DeliveryDocument> =>
      retry(await findDelivery(history, scopes, id), by),

    /** For operations: `retry`, of a delivery of any account. */
    async retryAnywhere(order: OpsOrder, id: string, requestId: string): Promise<DeliveryDocument> {
      const found = await findDeliveryAnywhere(history, id)
      if (order.dryRun) {
        await assertMayRetry(found)
        return found
      }
      logger.info({ by: order.by, reason: order.reason, delivery_id: id }, 'ops.delivery-retried')
      return retry(found, orderedBy(order, found.operatorId, requestId))
    },
  }
}
