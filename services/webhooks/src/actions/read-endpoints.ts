import type { Scope } from '@pitboss/contracts/caller'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { readPage } from '@pitboss/storage/read-page'
import type { EndpointDocument } from '../storage/collections.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { WebhooksContext } from '../context.ts'

/** An endpoint as a caller names it: its id, and the scopes in which it may be. */
export type EndpointTarget = { readonly scopes: readonly Scope[]; readonly webhookId: string }

/** Reads an endpoint and the number of its held deliveries, up to `countedMax`. @throws as `findEndpoint` */
export async function showEndpoint(
  { endpoints, deliveries }: Pick<WebhooksContext, 'endpoints' | 'deliveries'>,
  target: EndpointTarget,
): Promise<{ endpoint: EndpointDocument; held: number }> {
  const endpoint = await findEndpoint(endpoints, target)
  return { endpoint, held: await deliveries.countHeld(endpoint._id, countedMax) }
}

export function listEndpoints(
  { endpoints, cursors }: Pick<WebhooksContext, 'endpoints' | 'cursors'>,
  scope: Scope,
  query: { limit: number; cursor?: string | undefined },
) {
  const binding = ['webhooks', scope.operatorId, scope.environment]
  return readPage({
    ...{ cursors, binding, query },
    read: (before, limit) => endpoints.list(scope, before, limit),
    positionOf: ({ _id }) => _id,
  })
}

/** @throws ServiceError NOT_FOUND for an unknown, foreign or deleted endpoint */
export async function findEndpoint(
  endpoints: EndpointStore,
  { scopes, webhookId }: EndpointTarget,
): Promise<EndpointDocument> {
  return findInScopes(scopes, (scope) => endpoints.find(scope, webhookId))
}
