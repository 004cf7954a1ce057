import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { realityCheckAt, sessionStatusAt } from '../rules/live-rules.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import type { Parts } from './parts.ts'
import type { PlayerAccess } from './player.ts'
import type { Sessions } from './sessions.ts'

export type AnswerRealityCheck = ReturnType<typeof createAnswerRealityCheck>

/**
 * Creates the answer of a player to a reality check: going on starts the next interval, stopping closes the
 * session. Answering again changes nothing. Source: docs/contract.md, section 4, "Jurisdictions".
 */
export function createAnswerRealityCheck({
  sessions,
  players,
  close,
}: Pick<Parts, 'sessions'> & { players: Pick<PlayerAccess, 'player'>; close: Sessions['close'] }) {
  /**
   * @throws ServiceError SESSION_NOT_FOUND; CONFLICT without reality checks; SESSION_CLOSED, SESSION_EXPIRED
   */
  return async function answerRealityCheck(
    caller: Caller,
    choice: 'continue' | 'stop',
    now: Date,
  ): Promise<SessionDocument> {
    const { scope, session } = await players.player(caller)
    const dueAt = realityCheckAt(session)
    if (dueAt === null) {
      throw new ServiceError('CONFLICT', { message: 'This session has no reality checks.' })
    }
    if (choice === 'stop') return close(caller, session._id, now, null)
    const status = sessionStatusAt(session, now)
    if (status === 'EXPIRED') throw new ServiceError('SESSION_EXPIRED')
    if (status === 'CLOSED') throw new ServiceError('SESSION_CLOSED')
    if (now < dueAt) return session
    const kept = await sessions.keepRealityCheck(scope, session._id, now)
    if (kept === null) throw new ServiceError('SESSION_CLOSED')
    return kept
  }
}
