import { failpoint } from '@pitboss/runtime/failpoint'
import { pruneOwedAt } from '../rules/subscription.ts'
import type { EndpointDocument } from '../storage/collections.ts'
import type { WebhooksContext } from '../context.ts'

/**
 * Cancels what waits of types that the endpoint has unsubscribed, once for each change of its list. A crash
 * since that change leaves it to the endpoint's worker.
 */
export async function pruneDeliveries(
  { endpoints, deliveries }: Pick<WebhooksContext, 'endpoints' | 'deliveries'>,
  endpoint: EndpointDocument,
): Promise<void> {
  const until = pruneOwedAt(endpoint)
  if (until === null) return
  await failpoint('webhooks.unsubscribed')
  await deliveries.cancelTypes(endpoint._id, endpoint.events, until)
  await endpoints.notePruned(endpoint._id, until)
}
