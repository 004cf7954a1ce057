import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { Clock } from '@pitboss/runtime/clock'
import type { WalletClient } from '../clients/wallet.ts'
import { isUnfinished } from '../rules/round.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import type { GrantsStore } from '../storage/grants-store.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { PlayerAccess } from './player-session.ts'
import type { ReadGames } from './read-games.ts'

type ShowPlayerDeps = {
  rounds: Pick<RoundsStore, 'findLast'>
  commitments: Pick<CommitmentsStore, 'ensure'>
  grants: Pick<GrantsStore, 'open'>
  wallet: Pick<WalletClient, 'balance'>
  players: Pick<PlayerAccess, 'player'>
  games: Pick<ReadGames, 'find'>
  clock: Clock
}

export type ShowPlayer = ReturnType<typeof createShowPlayer>

const freeBetsShownMax = 50

/**
 * Shows a player the session, the game, the balance, the open round, the commitment of the next round and the
 * free bets. Source: docs/contract.md, section 11, "Play".
 * @throws ServiceError SESSION_NOT_FOUND
 */
export function createShowPlayer({
  rounds,
  commitments,
  grants,
  wallet,
  players,
  games,
  clock,
}: ShowPlayerDeps) {
  return async function showPlayer(caller: Caller, context: HandlerContext) {
    const { scope, session, chain } = await players.player(caller)
    const { playerId, currency } = session
    const now = clock.now()
    const game = await games.find(caller.account.operator_id, session.game)
    const [balance, last, openGrants] = await Promise.all([
      wallet.balance(
        scope,
        { playerId, currency, sessionId: session._id, walletGameId: game.entry.gameId },
        context,
      ),
      // One read for both: the commitment after a round is never shown without that round.
      rounds.findLast(chain),
      grants.open(scope, { playerId, game: session.game, currency }, now),
    ])
    const next = await commitments.ensure(chain, (last?.round.nonce ?? 0) + 1, now)
    return {
      now,
      session,
      game,
      balance,
      openRound: last !== null && isUnfinished(last.round) ? last.round : null,
      next,
      freeBets: openGrants.slice(0, freeBetsShownMax),
    }
  }
}
