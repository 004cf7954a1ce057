import type { Caller, Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import type { RoundsContext } from '../context.ts'
import { sequenceKey, type StoredRound } from '../storage/round-document.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'

export type Player = {
  readonly scope: Scope
  readonly session: SessionDocument
  /** The key of the player's nonce sequence in the game of this session. */
  readonly sequence: string
}

/** Finds the player of a launch token, by its session. @throws ServiceError SESSION_NOT_FOUND */
export async function findPlayer(
  { sessions }: { sessions: Pick<RoundsContext['sessions'], 'find'> },
  { scope, actor }: Caller,
): Promise<Player> {
  const session = actor.kind === 'session' ? await sessions.find(scope, actor.session_id) : null
  if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
  return { scope, session, sequence: sequenceKey(scope, session.game, session.playerId) }
}

/** Finds a round of this player in this game, of any session. @throws ServiceError ROUND_NOT_FOUND */
export async function findPlayerRound(
  { rounds }: Pick<RoundsContext, 'rounds'>,
  { scope, session }: Player,
  roundId: string,
): Promise<StoredRound> {
  const stored = await rounds.find(scope, roundId)
  const isTheirs =
    stored !== null && stored.round.playerId === session.playerId && stored.round.game === session.game
  if (!isTheirs) throw new ServiceError('ROUND_NOT_FOUND')
  return stored
}
