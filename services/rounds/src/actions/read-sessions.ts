import { type Caller, lookupScopes } from '@pitboss/contracts/caller'
import type { listSessions as endpoint } from '@pitboss/contracts/endpoints/sessions'
import { sessionId as sessionIdSchema } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { type Page, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import type { RoundsContext } from '../context.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import { readWindow } from './read-window.ts'

export type ListSessionsQuery = z.output<typeof endpoint.query>

/** Finds a session of the caller's account. @throws ServiceError SESSION_NOT_FOUND */
export async function findSession(
  { sessions }: Pick<RoundsContext, 'sessions'>,
  caller: Caller,
  sessionId: string,
): Promise<SessionDocument> {
  for (const scope of lookupScopes(caller)) {
    const session = await sessions.find(scope, sessionId)
    if (session !== null) return session
  }
  throw new ServiceError('SESSION_NOT_FOUND')
}

/** Lists sessions, newest first. Source: docs/contract.md, sections 4 and 11. */
export async function listSessions(
  { sessions, cursors }: Pick<RoundsContext, 'sessions' | 'cursors'>,
  { scope }: Caller,
  { limit, cursor, ...filters }: ListSessionsQuery,
  now: Date,
): Promise<Page<SessionDocument>> {
  const { player_id: playerId, status } = filters
  return readPage({
    cursors,
    binding: { list: 'sessions', scope, filters },
    query: { limit, cursor },
    position: sessionIdSchema,
    read: (before, max) =>
      sessions.list(scope, { playerId, status, ...readWindow(filters) }, { before, max, now }),
    positionOf: ({ _id }) => _id,
  })
}
