import type { CallContext } from '@pitboss/contracts/call'
import type { Caller } from '@pitboss/contracts/caller'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { scopeKey } from '../storage/round-document.ts'
import type { OfferedGame } from './offered-game.ts'
import type { Parts } from './parts.ts'
import type { Player } from './find-player.ts'

const sessionsMax = 10_000

/** What a play needs beside its session; either may be a refusal. */
export type Foreseen = {
  readonly game: Promise<OfferedGame>
  readonly wallet: ReturnType<Parts['wallet']['assertConfigured']>
}

/**
 * Creates the asking for what a play needs, while its session is read. A session never changes its game, so
 * that of one that has played here is known. All is judged after the session, as without it. Source: ours.
 */
export function createForeseePlay({
  access,
  wallet,
}: Pick<Parts, 'wallet'> & { access: Pick<Parts['access'], 'offered'> }) {
  const games = new BoundedMap<string, string>(sessionsMax)
  return { foresee, remember }

  /** Null for a session that has not played here. */
  function foresee({ scope, actor }: Caller, context: CallContext): Foreseen | null {
    const slug =
      actor.kind === 'session' ? games.get(keyOf({ scope, sessionId: actor.session_id })) : undefined
    if (slug === undefined) return null
    const foreseen = {
      game: access.offered(scope.operatorId, slug),
      wallet: wallet.assertConfigured(scope, context),
    }
    // A play that is refused before waits for neither.
    void Promise.allSettled([foreseen.game, foreseen.wallet])
    return foreseen
  }

  function remember({ scope, session }: Player): void {
    games.set(keyOf({ scope, sessionId: session._id }), session.game)
  }
}

function keyOf({ scope, sessionId }: Pick<Player, 'scope'> & { readonly sessionId: string }): string {
  return `${scopeKey(scope)}/${sessionId}`
}
