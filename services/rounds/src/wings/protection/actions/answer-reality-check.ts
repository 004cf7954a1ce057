import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { closeSession } from '../../../actions/manage-sessions.ts'
import { findPlayer } from '../../../actions/find-player.ts'
import type { RoundsContext } from '../../../context.ts'
import { realityCheckAt, sessionStatusAt } from '../../../rules/live-rules.ts'
import type { SessionDocument } from '../../../storage/sessions-store.ts'

/**
 * Answers a reality check: going on starts the next interval, stopping closes the session. Answering again
 * changes nothing. Source: docs/contract.md, section 4, "Jurisdictions".
 * @throws ServiceError SESSION_NOT_FOUND; CONFLICT without reality checks; SESSION_CLOSED, SESSION_EXPIRED
 */
export async function answerRealityCheck(
  context: RoundsContext,
  caller: Caller,
  choice: 'continue' | 'stop',
  now: Date,
): Promise<SessionDocument> {
  const { scope, session } = await findPlayer(context, caller)
  const dueAt = realityCheckAt(session)
  if (dueAt === null) throw new ServiceError('CONFLICT', { message: 'This session has no reality checks.' })
  if (choice === 'stop') return closeSession(context, caller, session._id, now, null)
  const status = sessionStatusAt(session, now)
  if (status === 'EXPIRED') throw new ServiceError('SESSION_EXPIRED')
  if (status === 'CLOSED') throw new ServiceError('SESSION_CLOSED')
  if (now < dueAt) return session
  const kept = await context.sessions.keepRealityCheck(scope, session._id, now)
  if (kept === null) throw new ServiceError('SESSION_CLOSED')
  return kept
}
