import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { RoundsContext } from '../context.ts'
import { presentUsableFreeBet } from '../records/present-free-bet.ts'
import { presentGame } from '../records/present-game.ts'
import { presentRound } from '../records/present-round.ts'
import { presentSession } from '../records/present-session.ts'
import { isUnfinished } from '../rules/round.ts'
import { capRangeOf } from '../rules/stake-cap.ts'
import { findPlayer } from './find-player.ts'
import { readPlayedGame } from './offered-game.ts'

const freeBetsShownMax = 50

type Showing = Pick<RoundsContext, 'rounds' | 'commitments' | 'wallet' | 'clock' | 'catalogue' | 'hooks'> & {
  readonly sessions: Pick<RoundsContext['sessions'], 'find'>
  readonly grants: Pick<RoundsContext['grants'], 'open'>
  readonly games: Pick<RoundsContext['games'], 'copy'>
}

/**
 * Shows what a player's page shows: session, game, limits, balance, open round, next commitment, free bets.
 * Source: docs/contract.md, section 11, "Play". @throws ServiceError SESSION_NOT_FOUND
 */
export async function showPlayer(context: Showing, caller: Caller, call: HandlerContext) {
  const { rounds, commitments, grants, wallet, hooks, clock } = context
  const { scope, session, sequence } = await findPlayer(context, caller)
  const { operator_id: operatorId, currencies } = caller.account
  const { playerId, currency } = session
  const now = clock.now()
  const game = await readPlayedGame(context, operatorId, session.game)
  const [balance, { last, stored }, openGrants, fields] = await Promise.all([
    wallet.balance(
      scope,
      { playerId, currency, sessionId: session._id, walletGameId: game.entry.gameId },
      call,
    ),
    // One read for both: the commitment after a round is never shown without that round.
    rounds.lastShown(sequence),
    grants.open(scope, { playerId, game: session.game, currency }, now),
    hooks.sessionFields(session, now),
  ])
  const openRound = stored !== null && isUnfinished(stored.round) ? stored.round : null
  if (openRound !== null) await rounds.show(openRound.id)
  const { serverSeedHash, nonce } = await commitments.after(sequence, last, now)
  return {
    session: presentSession(session, now),
    game: presentGame(game, currencies, { currency, range: capRangeOf(session) }),
    balance,
    open_round: openRound === null ? null : presentRound(openRound),
    next_round: { server_seed_hash: serverSeedHash, nonce },
    free_bets: openGrants.slice(0, freeBetsShownMax).map(presentUsableFreeBet),
    ...fields,
  }
}
