import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { abandonedAt } from '../rules/due-at.ts'
import { chainKey } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { SessionDocument, SessionsStore } from '../storage/sessions-store.ts'

export type CloseSession = (caller: Caller, sessionId: string, now: Date) => Promise<SessionDocument>

/**
 * Closes a session; closing it again changes nothing. The round that it plays counts as abandoned a minute
 * later. Source: docs/contract.md, section 4.
 * @throws ServiceError SESSION_NOT_FOUND
 */
export function createCloseSession({
  sessions,
  rounds,
  scaleMs,
}: {
  sessions: Pick<SessionsStore, 'close'>
  rounds: Pick<RoundsStore, 'endSession'>
  scaleMs: (ms: number) => number
}): CloseSession {
  return async function closeSession({ scope }, sessionId, now) {
    const session = await sessions.close(scope, sessionId, now)
    if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
    const endedAt = session.closedAt ?? now
    // After a crash between the two writes, a repeat makes the second one.
    const left = abandonedAt({ lastActionAt: endedAt, sittingEndsAt: endedAt }, scaleMs)
    const chain = chainKey(scope, session.game, session.playerId)
    await rounds.endSession(chain, sessionId, endedAt, left)
    return session
  }
}
