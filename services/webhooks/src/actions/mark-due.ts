import { notifyWorkers } from '../clients/notify-workers.ts'
import type { WebhooksContext } from '../context.ts'

/** Makes an endpoint's worker see it at once. The work is counted, in case the notification is lost. */
export async function markDue(c: WebhooksContext, webhookId: string): Promise<void> {
  await c.endpoints.countWork(webhookId)
  notifyWorkers(c, { ids: [webhookId] })
}
