import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import {
  dashboardGetEvent,
  dashboardListEvents,
  getEvent,
  getEventManifest,
  listEvents,
} from '@pitboss/contracts/endpoints/events'
import {
  dashboardGetDelivery,
  dashboardListDeliveries,
  dashboardRetryDelivery,
  listDeliveries,
  retryDelivery as retryDeliveryEndpoint,
} from '@pitboss/contracts/endpoints/webhooks'
import { answerPage } from '@pitboss/storage/read-page'
import type { CallsContext } from '../context.ts'
import { createReadEvents, type EventQuery } from '../actions/read-events.ts'
import { presentDelivery, presentDeliveryDetail, presentEvent } from '../records/webhook-records.ts'
import { idScopes, queryScope } from './endpoints.ts'
import { createReadDeliveries, type DeliveryQuery } from '../actions/read-deliveries.ts'
import { createRetryDelivery } from '../actions/retry-delivery.ts'

/** Event history by polling. Source: docs/contract.md, sections 7 and 11. */
export function eventHandlers(deps: CallsContext): CallHandler[] {
  const readEvents = createReadEvents(deps)
  const list = async (scope: Scope, query: EventQuery) => {
    const { bodies, nextCursor } = await readEvents.list(scope, query)
    return { status: 200, body: { data: bodies.map(presentEvent), next_cursor: nextCursor } }
  }
  const show = async (scopes: readonly Scope[], id: string) => ({
    status: 200,
    body: presentEvent(await readEvents.find(scopes, id)),
  })

  return [
    handler(listEvents.call, ({ caller, query }) => list(caller.scope, query)),
    handler(dashboardListEvents.call, ({ caller, query }) =>
      list(queryScope(caller, query.environment), query),
    ),
    handler(getEvent.call, ({ caller, params }) => show([caller.scope], params.event_id)),
    handler(dashboardGetEvent.call, ({ caller, params, query }) =>
      show(idScopes(caller, query.environment), params.event_id),
    ),
    handler(getEventManifest.call, async ({ caller, query }) => {
      const { scope } = caller
      const hours = await readEvents.manifest(scope, new Date(query.from), new Date(query.to))
      return {
        status: 200,
        body: {
          from: new Date(query.from).toISOString(),
          to: new Date(query.to).toISOString(),
          operator_id: scope.operatorId,
          environment: scope.environment,
          hours: hours.map(({ idsSha256, ...hour }) => ({ ...hour, ids_sha256: idsSha256 })),
        },
      }
    }),
  ]
}

/** Deliveries, in the dashboard and for API keys. Source: docs/contract.md, sections 7 and 11. */
export function deliveryHandlers(deps: CallsContext): CallHandler[] {
  const readDeliveries = createReadDeliveries(deps)
  const retryDelivery = createRetryDelivery(deps)
  const list = async (scope: Scope, query: DeliveryQuery) =>
    answerPage(await readDeliveries.list(scope, query), presentDelivery)
  const retry = async (scopes: readonly Scope[], id: string, by: ActedBy) => ({
    status: 202,
    body: presentDelivery(await retryDelivery.retry(scopes, id, by)),
  })

  return [
    handler(listDeliveries.call, ({ caller, query }) => list(caller.scope, query)),
    handler(dashboardListDeliveries.call, ({ caller, query }) =>
      list(queryScope(caller, query.environment), query),
    ),
    handler(dashboardGetDelivery.call, async ({ caller, params, query }) => {
      const scopes = idScopes(caller, query.environment)
      const { delivery, waitingFor } = await readDeliveries.show(scopes, params.delivery_id)
      return { status: 200, body: presentDeliveryDetail(delivery, waitingFor, deps.scaleMs) }
    }),
    handler(retryDeliveryEndpoint.call, ({ caller, params }, context) =>
      retry([caller.scope], params.delivery_id, actedBy(caller, context)),
    ),
    handler(dashboardRetryDelivery.call, ({ caller, params, query }, context) =>
      retry(idScopes(caller, query.environment), params.delivery_id, actedBy(caller, context)),
    ),
  ]
}
