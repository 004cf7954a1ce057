import type { ActedBy } from '@pitboss/contracts/audit'
import { type Caller, lookupScopes } from '@pitboss/contracts/caller'
import type { dashboardListSessions as endpoint } from '@pitboss/contracts/endpoints/sessions'
import { ServiceError } from '@pitboss/errors/service-error'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { type Page, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import type { RoundsContext } from '../context.ts'
import { presentSession } from '../records/present-session.ts'
import { abandonedAt } from '../rules/due-at.ts'
import { sequenceKey } from '../storage/round-document.ts'
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

/**
 * Closes a session, once; its round counts as abandoned a minute later. Source: docs/contract.md, section 4.
 * @param by the person whose act is audited; null for an operator's server.
 * @throws ServiceError SESSION_NOT_FOUND
 */
export async function closeSession(
  context: RoundsContext,
  caller: Caller,
  sessionId: string,
  now: Date,
  by: ActedBy | null,
): Promise<SessionDocument> {
  const { sessions, rounds, scaleMs } = context
  const found = await findSession(context, caller, sessionId)
  const scope = { operatorId: found.operatorId, environment: found.environment }
  const entry = by === null ? null : closingOf(context, found, now, by)
  const session = await sessions.close(scope, sessionId, now, entry)
  if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
  const endedAt = session.closedAt ?? now
  // After a crash between the two writes, a repeat makes the second one.
  const left = abandonedAt({ lastActionAt: endedAt, sittingEndsAt: endedAt }, scaleMs)
  await rounds.endSession(sequenceKey(scope, session.game, session.playerId), sessionId, endedAt, left)
  return session
}

function closingOf({ audit }: RoundsContext, session: SessionDocument, now: Date, by: ActedBy) {
  const shown = (one: SessionDocument) => {
    const { status, player_id, game, closed_at } = presentSession(one, now)
    return { status, player_id, game, closed_at }
  }
  const object = { type: 'game-session', id: session._id } as const
  const after = shown({ ...session, closedAt: now })
  return audit.entry(by, { act: 'game-session.close', object, before: shown(session), after })
}
