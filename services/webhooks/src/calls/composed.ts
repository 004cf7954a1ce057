import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { deliveryHealth, roundEvents } from '@pitboss/contracts/calls/dashboard'
import { dossierMax } from '@pitboss/contracts/objects/dossier'
import type { CallsContext } from '../context.ts'
import { deliveriesOfEvents, readDeliveryHealth } from '../actions/read-deliveries.ts'
import { eventsOfRound } from '../actions/read-events.ts'
import { instantText, presentDeliveryFacts, presentEvent } from '../records/webhook-records.ts'

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
