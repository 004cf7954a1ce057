import { handler, type CallHandler } from '@pitboss/bus/serve-calls'
import type { Scope } from '@pitboss/contracts/caller'
import {
  dashboardGetDelivery,
  dashboardListDeliveries,
  dashboardRetryDelivery,
  listDeliveries,
  retryDelivery as retryDeliveryEndpoint,
} from '@pitboss/contracts/endpoints/webhooks'
import type { DeliveryQuery, ReadDeliveries } from '../actions/read-deliveries.ts'
import type { RetryDelivery } from '../actions/retry-delivery.ts'
import { presentDelivery, presentDeliveryDetail } from '../records/webhook-records.ts'
import { idScopes, queryScope } from './scopes.ts'

/** Deliveries, in the dashboard and for API keys. Source: docs/contract.md, sections 7 and 11. */
export function deliveryHandlers({
  readDeliveries,
  retryDelivery,
}: {
  readDeliveries: ReadDeliveries
  retryDelivery: RetryDelivery
}): CallHandler[] {
  const list = async (scope: Scope, query: DeliveryQuery) => {
    const { items, nextCursor } = await readDeliveries.list(scope, query)
    return { status: 200, body: { data: items.map(presentDelivery), next_cursor: nextCursor } }
  }
  const retry = async (scopes: readonly Scope[], id: string) => ({
    status: 202,
    body: presentDelivery(await retryDelivery.retry(scopes, id)),
  })

  return [
    handler(listDeliveries.call, ({ caller, query }) => list(caller.scope, query)),
    handler(dashboardListDeliveries.call, ({ caller, query }) =>
      list(queryScope(caller, query.environment), query),
    ),
    handler(dashboardGetDelivery.call, async ({ caller, params, query }) => {
      const scopes = idScopes(caller, query.environment)
      const { delivery, waitingFor } = await readDeliveries.show(scopes, params.delivery_id)
      return { status: 200, body: presentDeliveryDetail(delivery, waitingFor) }
    }),
    handler(retryDeliveryEndpoint.call, ({ caller, params }) => retry([caller.scope], params.delivery_id)),
    handler(dashboardRetryDelivery.call, ({ caller, params, query }) =>
      retry(idScopes(caller, query.environment), params.delivery_id),
    ),
  ]
}
