import type { Caller, Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { chainKey } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { SessionDocument, SessionsStore } from '../storage/sessions-store.ts'
import type { StoredRound } from '../storage/round-document.ts'

export type Player = {
  readonly scope: Scope
  readonly session: SessionDocument
  /** The key of the player's nonce sequence in the game of this session. */
  readonly chain: string
}

export type PlayerAccess = ReturnType<typeof createPlayerAccess>

/**
 * Creates the lookup of players by the session of their launch token, and of their rounds.
 * Source: docs/contract.md, section 11, "Play".
 */
export function createPlayerAccess({ sessions, rounds }: { sessions: SessionsStore; rounds: RoundsStore }) {
  return {
    /** @throws ServiceError SESSION_NOT_FOUND */
    async player({ scope, actor }: Caller): Promise<Player> {
      const session = actor.kind === 'session' ? await sessions.find(scope, actor.session_id) : null
      if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
      return { scope, session, chain: chainKey(scope, session.game, session.playerId) }
    },

    /**
     * A round of this player in this game, of any session.
     * @throws ServiceError ROUND_NOT_FOUND
     */
    async round({ scope, session }: Player, roundId: string): Promise<StoredRound> {
      const stored = await rounds.find(scope, roundId)
      const isTheirs =
        stored !== null && stored.round.playerId === session.playerId && stored.round.game === session.game
      if (!isTheirs) throw new ServiceError('ROUND_NOT_FOUND')
      return stored
    },
  }
}
