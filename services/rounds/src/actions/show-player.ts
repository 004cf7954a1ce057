import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { RoundsContext } from '../context.ts'
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
 * Shows a player's session, game, limits, balance, open round, next commitment and free bets. Source:
 * docs/contract.md, section 11, "Play". @throws ServiceError SESSION_NOT_FOUND
 */
export async function showPlayer(context: Showing, caller: Caller, call: HandlerContext) {
  const { rounds, commitments, grants, wallet, hooks, clock } = context
  const { scope, session, sequence } = await findPlayer(context, caller)
  const { playerId, currency } = session
  const now = clock.now()
  const game = await readPlayedGame(context, caller.account.operator_id, session.game)
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
  const next = await commitments.after(sequence, last, now)
  return {
    now,
    session,
    game,
    /** What the session's cap leaves of the game's limits; null without one. */
    stakeRange: capRangeOf(session),
    balance,
    openRound,
    next,
    freeBets: openGrants.slice(0, freeBetsShownMax),
    fields,
  }
}
