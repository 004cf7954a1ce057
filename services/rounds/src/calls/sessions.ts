import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import {
  closeSession,
  createSession,
  dashboardCloseSession,
  dashboardGetSession,
  dashboardListSessions,
  getSession,
  listSessions,
} from '@pitboss/contracts/endpoints/sessions'
import type { Clock } from '@pitboss/runtime/clock'
import { answerPage } from '@pitboss/storage/read-page'
import type { Sessions } from '../actions/sessions.ts'
import { presentSession } from '../records/present-session.ts'

/** Calls of operators about sessions. Source: docs/contract.md, sections 4 and 11. */
export function createSessionHandlers({
  sessions,
  clock,
}: {
  sessions: Sessions
  clock: Clock
}): CallHandler[] {
  async function list(caller: Caller, query: Parameters<Sessions['list']>[1]) {
    const now = clock.now()
    return answerPage(await sessions.list(caller, query, now), (session) => presentSession(session, now))
  }

  async function show(caller: Caller, sessionId: string) {
    const session = await sessions.find(caller, sessionId)
    return { status: 200, body: presentSession(session, clock.now()) }
  }

  async function close(caller: Caller, sessionId: string, by: ActedBy | null) {
    const now = clock.now()
    return { status: 200, body: presentSession(await sessions.close(caller, sessionId, now, by), now) }
  }

  return [
    handler(createSession.call, async ({ caller, body }) => ({
      status: 201,
      body: presentSession(await sessions.open(caller, body), clock.now()),
    })),
    handler(listSessions.call, ({ caller, query }) => list(caller, query)),
    handler(dashboardListSessions.call, ({ caller, query: { environment: _environment, ...query } }) =>
      list(caller, query),
    ),
    handler(getSession.call, ({ caller, params }) => show(caller, params.session_id)),
    handler(dashboardGetSession.call, ({ caller, params }) => show(caller, params.session_id)),
    handler(closeSession.call, ({ caller, params }) => close(caller, params.session_id, null)),
    handler(dashboardCloseSession.call, ({ caller, params }, context) =>
      close(caller, params.session_id, actedBy(caller, context)),
    ),
    handler(currenciesInUse, async ({ operatorId }) => ({
      currencies: await sessions.currenciesInUse(operatorId, clock.now()),
    })),
  ]
}
