import type { ActedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import type { RoundsContext } from '../context.ts'
import { presentSession } from '../records/present-session.ts'
import { abandonedAt } from '../rules/due-at.ts'
import { sequenceKey } from '../storage/round-document.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import { findSession } from './read-sessions.ts'

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
