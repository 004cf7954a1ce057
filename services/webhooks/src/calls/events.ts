import { answer, type CallHandler, handler, handlers } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { deliveryHealth, roundEvents } from '@pitboss/contracts/calls/dashboard'
import * as eventEndpoints from '@pitboss/contracts/endpoints/events'
import * as webhookEndpoints from '@pitboss/contracts/endpoints/webhooks'
import { dossierMax } from '@pitboss/contracts/objects/dossier'
import { answerPage } from '@pitboss/storage/read-page'
import * as deliveries from '../actions/read-deliveries.ts'
import * as events from '../actions/read-events.ts'
import type { CallsContext } from '../context.ts'
import * as records from '../records/webhook-records.ts'

/** Event history by polling, and deliveries. Source: docs/contract.md, sections 3, 7 and 11. */
export function eventHandlers(c: CallsContext): CallHandler[] {
  const { dashboardGetEvent, dashboardListEvents, getEvent, getEventManifest } = eventEndpoints
  const { dashboardGetDelivery, dashboardListDeliveries, dashboardRetryDelivery } = webhookEndpoints
  const { listDeliveries, retryDelivery } = webhookEndpoints
  return [
    ...handlers([eventEndpoints.listEvents.call, dashboardListEvents.call], async ({ caller, query }) => {
      const { bodies, nextCursor } = await events.listEvents(c, caller.scope, query)
      return answer({ data: bodies.map(records.presentEvent), next_cursor: nextCursor })
    }),
    ...handlers([getEvent.call, dashboardGetEvent.call], async ({ caller, params }) =>
      answer(records.presentEvent(await events.findEvent(c, caller, params.event_id))),
    ),
    handler(getEventManifest.call, async ({ caller: { scope }, query }) => {
      const [from, to] = [new Date(query.from), new Date(query.to)]
      const hours = await events.readManifest(c, scope, from, to)
      const { operatorId: operator_id, environment } = scope
      const window = { from: from.toISOString(), to: to.toISOString() }
      return answer({ ...window, operator_id, environment, hours })
    }),
    // Deliveries, in the dashboard and for API keys.
    ...handlers([listDeliveries.call, dashboardListDeliveries.call], async ({ caller, query }) =>
      answerPage(await deliveries.listDeliveries(c, caller.scope, query), records.presentDelivery),
    ),
    handler(dashboardGetDelivery.call, async ({ caller, params }) => {
      const delivery = await deliveries.findDelivery(c, caller, params.delivery_id)
      const wait = await deliveries.explainWait(c, delivery)
      return answer(records.presentDeliveryDetail(delivery, wait, c.scaleMs))
    }),
    ...handlers([retryDelivery.call, dashboardRetryDelivery.call], async ({ caller, params }, call) => {
      const delivery = await deliveries.findDelivery(c, caller, params.delivery_id)
      const again = await deliveries.retryDelivery(c, delivery, actedBy(caller, call))
      return answer(records.presentDelivery(again), 202)
    }),
    // What the gateway composes answers for people from.
    handler(roundEvents, async ({ caller, roundId }) => {
      const { bodies, complete } = await events.eventsOfRound(c, caller.scope, roundId, dossierMax.events)
      const shown = bodies.map(records.presentEvent)
      const ids = shown.map(({ id }) => id)
      const max = dossierMax.deliveries
      const sent = await deliveries.deliveriesOfEvents(c, caller.scope, ids, max + 1)
      const facts = sent.slice(0, max).map((one) => records.presentDeliveryFacts(one.delivery, one.wait))
      const factsOf = (id: string) => facts.filter(({ event_id }) => event_id === id)
      const data = shown.map((event) => ({ event, deliveries: factsOf(event.id) }))
      return { data, complete: complete && sent.length <= max }
    }),
    handler(deliveryHealth, ({ caller }) => deliveries.readHealth(c, caller.scope)),
  ]
}
