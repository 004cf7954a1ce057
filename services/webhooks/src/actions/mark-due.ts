import { notifyWorkers } from '../clients/notify-workers.ts'
import type { WebhooksContext } from '../context.ts'

/**
 * Makes the worker of an endpoint look at it at once: it was changed, or has stored work. The work is
 * counted, so that the dispatcher finds it when the notification is lost.
 */
export async function markDue(c: WebhooksContext, webhookId: string): Promise<void> {
  await c.endpoints.countWork(webhookId)
  notifyWorkers(c, { ids: [webhookId] })
}
