import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import {
  closeSession as closeSessionEndpoint,
  createSession,
  dashboardGetSession,
  dashboardListSessions,
  getSession,
  listSessions,
} from '@pitboss/contracts/endpoints/sessions'
import type { Clock } from '@pitboss/runtime/clock'
import type { CloseSession } from '../actions/close-session.ts'
import type { OpenSession } from '../actions/open-session.ts'
import type { ReadSessions } from '../actions/read-sessions.ts'
import { presentSession } from '../records/present-session.ts'

type SessionsDeps = {
  openSession: OpenSession
  sessions: ReadSessions
  closeSession: CloseSession
  clock: Clock
}

/** Calls of operators about sessions. Source: docs/contract.md, sections 4 and 11. */
export function createSessionHandlers({
  openSession,
  sessions,
  closeSession,
  clock,
}: SessionsDeps): CallHandler[] {
  async function list(caller: Caller, query: Parameters<ReadSessions['list']>[1]) {
    const now = clock.now()
    const { items, nextCursor } = await sessions.list(caller, query, now)
    const data = items.map((session) => presentSession(session, now))
    return { status: 200, body: { data, next_cursor: nextCursor } }
  }

  async function show(caller: Caller, sessionId: string) {
    const session = await sessions.find(caller, sessionId)
    return { status: 200, body: presentSession(session, clock.now()) }
  }

  return [
    handler(createSession.call, async ({ caller, body }) => ({
      status: 201,
      body: presentSession(await openSession(caller, body), clock.now()),
    })),
    handler(listSessions.call, ({ caller, query }) => list(caller, query)),
    handler(dashboardListSessions.call, ({ caller, query: { environment: _environment, ...query } }) =>
      list(caller, query),
    ),
    handler(getSession.call, ({ caller, params }) => show(caller, params.session_id)),
    handler(dashboardGetSession.call, ({ caller, params }) => show(caller, params.session_id)),
    handler(closeSessionEndpoint.call, async ({ caller, params }) => {
      const now = clock.now()
      return { status: 200, body: presentSession(await closeSession(caller, params.session_id, now), now) }
    }),
    handler(currenciesInUse, async ({ operatorId }) => ({
      currencies: await sessions.currenciesInUse(operatorId, clock.now()),
    })),
  ]
}
