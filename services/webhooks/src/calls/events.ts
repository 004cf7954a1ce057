import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import * as eventEndpoints from '@pitboss/contracts/endpoints/events'
import * as webhookEndpoints from '@pitboss/contracts/endpoints/webhooks'
import { answerPage } from '@pitboss/storage/read-page'
import type { CallsContext } from '../context.ts'
import { type DeliveryQuery, explainWait, findDelivery, listDeliveries } from '../actions/read-deliveries.ts'
import { type EventQuery, findEvent, listEvents, readManifest } from '../actions/read-events.ts'
import { retryDelivery } from '../actions/retry-delivery.ts'
import { presentDelivery, presentDeliveryDetail, presentEvent } from '../records/webhook-records.ts'
import { idScopes, queryScope } from './endpoints.ts'

/** Event history by polling. Source: docs/contract.md, sections 7 and 11. */
export function eventHandlers(deps: CallsContext): CallHandler[] {
  const { dashboardGetEvent, dashboardListEvents, getEvent, getEventManifest } = eventEndpoints
  const list = async (scope: Scope, query: EventQuery) => {
    const { bodies, nextCursor } = await listEvents(deps, scope, query)
    return { status: 200, body: { data: bodies.map(presentEvent), next_cursor: nextCursor } }
  }
  const show = async (scopes: readonly Scope[], id: string) => ({
    status: 200,
    body: presentEvent(await findEvent(deps, scopes, id)),
  })

  return [
    handler(eventEndpoints.listEvents.call, ({ caller, query }) => list(caller.scope, query)),
    handler(dashboardListEvents.call, ({ caller, query }) =>
      list(queryScope(caller, query.environment), query),
    ),
    handler(getEvent.call, ({ caller, params }) => show([caller.scope], params.event_id)),
    handler(dashboardGetEvent.call, ({ caller, params, query }) =>
      show(idScopes(caller, query.environment), params.event_id),
    ),
    handler(getEventManifest.call, async ({ caller: { scope }, query }) => {
      const [from, to] = [new Date(query.from), new Date(query.to)]
      const hours = await readManifest(deps, scope, from, to)
      const { operatorId: operator_id, environment } = scope
      const window = { from: from.toISOString(), to: to.toISOString() }
      return { status: 200, body: { ...window, operator_id, environment, hours } }
    }),
  ]
}

/** Deliveries, in the dashboard and for API keys. Source: docs/contract.md, sections 7 and 11. */
export function deliveryHandlers(deps: CallsContext): CallHandler[] {
  const { dashboardGetDelivery, dashboardListDeliveries, dashboardRetryDelivery } = webhookEndpoints
  const list = async (scope: Scope, query: DeliveryQuery) =>
    answerPage(await listDeliveries(deps, scope, query), presentDelivery)
  const retry = async (scopes: readonly Scope[], id: string, by: ActedBy) => ({
    status: 202,
    body: presentDelivery(await retryDelivery(deps, scopes, id, by)),
  })

  return [
    handler(webhookEndpoints.listDeliveries.call, ({ caller, query }) => list(caller.scope, query)),
    handler(dashboardListDeliveries.call, ({ caller, query }) =>
      list(queryScope(caller, query.environment), query),
    ),
    handler(dashboardGetDelivery.call, async ({ caller, params, query }) => {
      const scopes = idScopes(caller, query.environment)
      const delivery = await findDelivery(deps.history, scopes, params.delivery_id)
      const wait = await explainWait(deps, delivery)
      return { status: 200, body: presentDeliveryDetail(delivery, wait, deps.scaleMs) }
    }),
    handler(webhookEndpoints.retryDelivery.call, ({ caller, params }, context) =>
      retry([caller.scope], params.delivery_id, actedBy(caller, context)),
    ),
    handler(dashboardRetryDelivery.call, ({ caller, params, query }, context) =>
      retry(idScopes(caller, query.environment), params.delivery_id, actedBy(caller, context)),
    ),
  ]
}
