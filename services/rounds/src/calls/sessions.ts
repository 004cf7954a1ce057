import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import { type Caller, lookupScopes } from '@pitboss/contracts/caller'
import {
  closeSession,
  createSession,
  dashboardGetSession,
  dashboardListSessions,
  getSession,
  listSessions,
} from '@pitboss/contracts/endpoints/rounds'
import { sessionId as sessionIdSchema } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { abandonedAt } from '../rules/due-at.ts'
import { presentSession } from '../records/present-session.ts'
import { chainKey } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { SessionDocument, SessionsStore } from '../storage/sessions-store.ts'
import type { OpenSession } from '../actions/open-session.ts'
import { readPage, readWindow } from './page.ts'

type SessionsDeps = {
  sessions: SessionsStore
  rounds: RoundsStore
  openSession: OpenSession
  cursors: CursorCodec
  clock: Clock
  scaleMs: (ms: number) => number
}

type ListQuery = {
  player_id?: string | undefined
  status?: 'ACTIVE' | 'EXPIRED' | 'CLOSED' | undefined
  from?: string | undefined
  to?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Sessions as operators see them. Contract sections 4 and 11. */
export function createSessionHandlers({
  sessions,
  rounds,
  openSession,
  cursors,
  clock,
  scaleMs,
}: SessionsDeps): CallHandler[] {
  async function find(caller: Caller, sessionId: string): Promise<SessionDocument> {
    for (const scope of lookupScopes(caller)) {
      const session = await sessions.find(scope, sessionId)
      if (session !== null) return session
    }
    throw new ServiceError('SESSION_NOT_FOUND')
  }

  async function list({ scope }: Caller, { limit, cursor, ...filters }: ListQuery) {
    const now = clock.now()
    const { player_id: playerId, status } = filters
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: 'sessions', scope, filters },
      query: { limit, cursor },
      position: sessionIdSchema,
      read: (before, max) =>
        sessions.list(scope, { playerId, status, ...readWindow(filters) }, { before, max, now }),
      positionOf: ({ _id }) => _id,
    })
    const data = items.map((session) => presentSession(session, now))
    return { status: 200, body: { data, next_cursor: nextCursor } }
  }

  async function close({ scope }: Caller, sessionId: string) {
    const now = clock.now()
    const session = await sessions.close(scope, sessionId, now)
    if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
    const endedAt = session.closedAt ?? now
    // Repeating it after a crash between the two writes mends the second one.
    const left = abandonedAt({ lastActionAt: endedAt, sittingEndsAt: endedAt }, scaleMs)
    const chain = chainKey(scope, session.game, session.playerId)
    await rounds.endSitting(chain, sessionId, endedAt, left)
    return { status: 200, body: presentSession(session, now) }
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
    handler(getSession.call, async ({ caller, params }) => ({
      status: 200,
      body: presentSession(await find(caller, params.session_id), clock.now()),
    })),
    handler(dashboardGetSession.call, async ({ caller, params }) => ({
      status: 200,
      body: presentSession(await find(caller, params.session_id), clock.now()),
    })),
    handler(closeSession.call, ({ caller, params }) => close(caller, params.session_id)),
    handler(currenciesInUse, async ({ operatorId }) => ({
      currencies: await sessions.currenciesInUse(operatorId, clock.now()),
    })),
  ]
}
