import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/sessions'
import { answerPage } from '@pitboss/storage/read-page'
import { closeSession } from '../actions/close-session.ts'
import { openSession } from '../actions/open-session.ts'
import { findSession, type ListSessionsQuery, listSessions } from '../actions/read-sessions.ts'
import type { RoundsContext } from '../context.ts'
import { presentSession } from '../records/present-session.ts'

/** Calls of operators about sessions. Source: docs/contract.md, sections 4 and 11. */
export function sessionCalls(context: RoundsContext): CallHandler[] {
  const { clock } = context

  async function list(caller: Caller, query: ListSessionsQuery) {
    const now = clock.now()
    return answerPage(await listSessions(context, caller, query, now), (one) => presentSession(one, now))
  }

  async function show(caller: Caller, sessionId: string) {
    return { status: 200, body: presentSession(await findSession(context, caller, sessionId), clock.now()) }
  }

  async function close(caller: Caller, sessionId: string, by: ActedBy | null) {
    const now = clock.now()
    return { status: 200, body: presentSession(await closeSession(context, caller, sessionId, now, by), now) }
  }

  return [
    handler(endpoints.createSession.call, async ({ caller, body }) => ({
      status: 201,
      body: presentSession(await openSession(context, caller, body), clock.now()),
    })),
    handler(endpoints.listSessions.call, ({ caller, query }) => list(caller, query)),
    handler(
      endpoints.dashboardListSessions.call,
      ({ caller, query: { environment: _environment, ...query } }) => list(caller, query),
    ),
    handler(endpoints.getSession.call, ({ caller, params }) => show(caller, params.session_id)),
    handler(endpoints.dashboardGetSession.call, ({ caller, params }) => show(caller, params.session_id)),
    handler(endpoints.closeSession.call, ({ caller, params }) => close(caller, params.session_id, null)),
    handler(endpoints.dashboardCloseSession.call, ({ caller, params }, call) =>
      close(caller, params.session_id, actedBy(caller, call)),
    ),
    handler(currenciesInUse, async ({ operatorId }) => ({
      currencies: await context.sessions.currenciesInUse(operatorId, clock.now()),
    })),
  ]
}
