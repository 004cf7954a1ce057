import type { WebhooksContext } from '../context.ts'

/**
 * Makes the worker of an endpoint look at it at once: it was changed, or has stored work. The work is
 * counted, so that the dispatcher finds it when the notification is lost.
 */
export async function markDue(
  { endpoints, notifyWorkers }: Pick<WebhooksContext, 'endpoints' | 'notifyWorkers'>,
  webhookId: string,
): Promise<void> {
  await endpoints.countWork([webhookId])
  notifyWorkers([webhookId])
}
