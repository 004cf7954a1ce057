import { answer, type CallHandler, handler, handlers } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as eventEndpoints from '@pitboss/contracts/endpoints/events'
import * as webhookEndpoints from '@pitboss/contracts/endpoints/webhooks'
import { answerPage } from '@pitboss/storage/read-page'
import type { CallsContext } from '../context.ts'
import {
  deliveriesOfEvents,
  explainWait,
  findDelivery,
  listDeliveries,
  readDeliveryHealth,
  retryDelivery,
} from '../actions/read-deliveries.ts'
import { eventsOfRound, findEvent, listEvents, readManifest } from '../actions/read-events.ts'
import {
  instantText,
  presentDelivery,
  presentDeliveryDetail,
  presentDeliveryFacts,
  presentEvent,
} from '../records/webhook-records.ts'
import { deliveryHealth, roundEvents } from '@pitboss/contracts/calls/dashboard'
import { dossierMax } from '@pitboss/contracts/objects/dossier'

/** Event history by polling. Source: docs/contract.md, sections 7 and 11. */
export function eventHandlers(deps: CallsContext): CallHandler[] {
  const { dashboardGetEvent, dashboardListEvents, getEvent, getEventManifest } = eventEndpoints
  return [
    ...handlers([eventEndpoints.listEvents.call, dashboardListEvents.call], async ({ caller, query }) => {
      const { bodies, nextCursor } = await listEvents(deps, caller.scope, query)
      return answer({ data: bodies.map(presentEvent), next_cursor: nextCursor })
    }),
    ...handlers([getEvent.call, dashboardGetEvent.call], async ({ caller, params }) =>
      answer(presentEvent(await findEvent(deps, caller, params.event_id))),
    ),
    handler(getEventManifest.call, async ({ caller: { scope }, query }) => {
      const [from, to] = [new Date(query.from), new Date(query.to)]
      const hours = await readManifest(deps, scope, from, to)
      const { operatorId: operator_id, environment } = scope
      const window = { from: from.toISOString(), to: to.toISOString() }
      return answer({ ...window, operator_id, environment, hours })
    }),
  ]
}

/** Deliveries, in the dashboard and for API keys. Source: docs/contract.md, sections 7 and 11. */
export function deliveryHandlers(deps: CallsContext): CallHandler[] {
  const { dashboardGetDelivery, dashboardListDeliveries, dashboardRetryDelivery } = webhookEndpoints
  return [
    ...handlers(
      [webhookEndpoints.listDeliveries.call, dashboardListDeliveries.call],
      async ({ caller, query }) =>
        answerPage(await listDeliveries(deps, caller.scope, query), presentDelivery),
    ),
    handler(dashboardGetDelivery.call, async ({ caller, params }) => {
      const delivery = await findDelivery(deps, caller, params.delivery_id)
      const wait = await explainWait(deps, delivery)
      return answer(presentDeliveryDetail(delivery, wait, deps.scaleMs))
    }),
    ...handlers(
      [webhookEndpoints.retryDelivery.call, dashboardRetryDelivery.call],
      async ({ caller, params }, context) => {
        const by = actedBy(caller, context)
        const delivery = await findDelivery(deps, caller, params.delivery_id)
        return answer(presentDelivery(await retryDelivery(deps, delivery, by)), 202)
      },
    ),
  ]
}

/** What the gateway composes answers for people from. Source: docs/contract.md, section 3. */
export function compositionHandlers(deps: CallsContext): CallHandler[] {
  return [
    handler(roundEvents, async ({ caller, roundId }) => {
      const { events, deliveries } = dossierMax
      const { bodies, complete } = await eventsOfRound(deps, caller.scope, roundId, events)
      const shown = bodies.map(presentEvent)
      const ids = shown.map(({ id }) => id)
      const sent = await deliveriesOfEvents(deps, caller.scope, ids, deliveries + 1)
      const facts = sent
        .slice(0, deliveries)
        .map(({ delivery, wait }) => presentDeliveryFacts(delivery, wait))
      return {
        data: shown.map((event) => ({
          event,
          deliveries: facts.filter(({ event_id }) => event_id === event.id),
        })),
        complete: complete && sent.length <= deliveries,
      }
    }),
    handler(deliveryHealth, async ({ caller }) => {
      const { oldestPendingAt, hasDelivered, ...health } = await readDeliveryHealth(deps, caller.scope)
      return { ...health, oldest_pending_at: instantText(oldestPendingAt), ever_delivered: hasDelivered }
    }),
  ]
}
