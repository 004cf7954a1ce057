import type { Scope } from '@pitboss/contracts/caller'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { webhookId } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { readPage } from '@pitboss/storage/read-page'
import { z } from 'zod'
import type { EndpointDocument } from '../storage/collections.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { WebhooksContext } from '../context.ts'

/** An endpoint as a caller names it: its id, and the scopes in which it may be. */
export type EndpointTarget = { readonly scopes: readonly Scope[]; readonly webhookId: string }

export function createReadEndpoints({
  endpoints,
  deliveries,
  cursors,
}: Pick<WebhooksContext, 'endpoints' | 'deliveries' | 'cursors'>) {
  return {
    /** @throws ServiceError NOT_FOUND as `findEndpoint` does */
    find: (target: EndpointTarget): Promise<EndpointDocument> => findEndpoint(endpoints, target),

    /** An endpoint with the number of its held deliveries, counted up to `countedMax`. @throws as `find` */
    async show(target: EndpointTarget): Promise<{ endpoint: EndpointDocument; held: number }> {
      const endpoint = await findEndpoint(endpoints, target)
      return { endpoint, held: await deliveries.countHeld(endpoint._id, countedMax) }
    },

    /** One page of the endpoints of a scope, newest first. */
    list: (scope: Scope, query: { limit: number; cursor?: string | undefined }) =>
      readPage({
        cursors,
        binding: ['webhooks', scope.operatorId, scope.environment],
        query,
        position: z.string(),
        read: (before, limit) => endpoints.list(scope, before, limit),
        positionOf: ({ _id }) => _id,
      }),
  }
}

/** @throws ServiceError NOT_FOUND for an unknown, foreign or deleted endpoint, and for a malformed id. */
export async function findEndpoint(
  endpoints: EndpointStore,
  target: EndpointTarget,
): Promise<EndpointDocument> {
  if (webhookId.safeParse(target.webhookId).success) {
    for (const scope of target.scopes) {
      const endpoint = await endpoints.find(scope, target.webhookId)
      if (endpoint !== null) return endpoint
    }
  }
  throw new ServiceError('NOT_FOUND')
}
