import { handler, type CallHandler } from '@pitboss/bus/serve-calls'
import type { Scope } from '@pitboss/contracts/caller'
import {
  dashboardGetEvent,
  dashboardListEvents,
  getEvent,
  getEventManifest,
  listEvents,
} from '@pitboss/contracts/endpoints/events'
import type { EventQuery, ReadEvents } from '../actions/read-events.ts'
import { presentEvent } from '../records/webhook-records.ts'
import { idScopes, queryScope } from './scopes.ts'

/** Event history by polling. Source: docs/contract.md, sections 7 and 11. */
export function eventHandlers({ readEvents }: { readEvents: ReadEvents }): CallHandler[] {
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
