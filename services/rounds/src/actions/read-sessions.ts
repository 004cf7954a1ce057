import { type Caller, lookupScopes } from '@pitboss/contracts/caller'
import type { dashboardListSessions as endpoint } from '@pitboss/contracts/endpoints/sessions'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { type Page, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import type { RoundsContext } from '../context.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import { readWindow } from './read-window.ts'

type ListSessionsQuery = z.output<typeof endpoint.query>

/** Finds a session of the caller's account. @throws ServiceError SESSION_NOT_FOUND */
export async function findSession(
  { sessions }: Pick<RoundsContext, 'sessions'>,
  caller: Caller,
  sessionId: string,
): Promise<SessionDocument> {
  return findInScopes(lookupScopes(caller), (scope) => sessions.find(scope, sessionId), 'SESSION_NOT_FOUND')
}

/** Lists sessions, newest first. Source: docs/contract.md, sections 4 and 11. */
export async function listSessions(
  { sessions, cursors }: Pick<RoundsContext, 'sessions' | 'cursors'>,
  { scope }: Caller,
  { limit, cursor, environment: _environment, ...filters }: ListSessionsQuery,
  now: Date,
): Promise<Page<SessionDocument>> {
  const { player_id: playerId, status } = filters
  return readPage({
    cursors,
    binding: { list: 'sessions', scope, filters },
    query: { limit, cursor },
    read: (before, max) =>
      sessions.list(scope, { playerId, status, ...readWindow(filters) }, { before, max, now }),
    positionOf: ({ _id }) => _id,
  })
}
