import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { PlayContext, RoundsContext } from '../context.ts'
import { presentGame, presentSession, presentUsableFreeBet } from '../records/present-session.ts'
import { presentRound, roundBytes } from '../records/present-round.ts'
import { capRangeOf } from '../rules/limits.ts'
import { resourceOf, unknownOutcome } from '../rules/movement.ts'
import type { PlayerAction } from '../rules/round-message.ts'
import { isUnfinished, openMovementIds, type RoundState } from '../rules/round.ts'
import { sequenceKey } from '../storage/round-document.ts'
import { applyMessage } from './change-round.ts'
import { readPlayedGame } from './offered-game.ts'
import { settleRound } from './settle-round.ts'

const freeBetsShownMax = 50

type Showing = Omit<PlayContext, 'hooks'> & Pick<RoundsContext, 'hooks'>

/** Shows what a player's page shows. Source: docs/contract.md, section 11. @throws SESSION_NOT_FOUND */
export async function showPlayer(context: Showing, caller: Caller, call: HandlerContext) {
  const { rounds, commitments, grants, wallet, hooks, clock } = context
  const { scope, session, sequence } = await findPlayer(context, caller)
  const { operator_id: operatorId, currencies } = caller.account
  const { playerId, currency } = session
  const now = clock.now()
  const game = await readPlayedGame(context, operatorId, session.game)
  const asked = { playerId, currency, sessionId: session._id, walletGameId: game.entry.gameId }
  const [balance, { last, stored }, openGrants, fields] = await Promise.all([
    wallet.balance(scope, asked, call),
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
    free_bets: openGrants.slice(0, freeBetsShownMax).map((grant) => presentUsableFreeBet(grant, now)),
    ...fields,
  }
}

type Rounds = Pick<RoundsContext, 'rounds'>

/** `sequence` is the key of the player's nonce sequence in the game of this session. */
export type Player = Awaited<ReturnType<typeof findPlayer>>

/** Finds the player of a launch token, by its session. @throws ServiceError SESSION_NOT_FOUND */
export async function findPlayer({ sessions }: Pick<PlayContext, 'sessions'>, { scope, actor }: Caller) {
  const session = actor.kind === 'session' ? await sessions.find(scope, actor.session_id) : null
  if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
  return { scope, session, sequence: sequenceKey(scope, session.game, session.playerId) }
}

/** Finds a round of this player in this game, of any session. @throws ServiceError ROUND_NOT_FOUND */
export async function findPlayerRound({ rounds }: Rounds, { scope, session }: Player, roundId: string) {
  const stored = await rounds.find(scope, roundId)
  const isTheirs =
    stored !== null && stored.round.playerId === session.playerId && stored.round.game === session.game
  if (!isTheirs) throw new ServiceError('ROUND_NOT_FOUND')
  return stored
}

/** Reads a page of the player's rounds, newest nonce first. Source: docs/contract.md, section 11. */
export async function listPlayerRounds(context: RoundsContext, caller: Caller, query: PageQuery) {
  const { scope, sequence } = await findPlayer(context, caller)
  return readPage({
    cursors: context.cursors,
    binding: { list: 'player-rounds', scope, chain: sequence },
    query,
    read: (below: number | null, max) => context.rounds.listSequence(sequence, { below, max }),
    positionOf: ({ nonce }) => nonce,
    bytesOf: roundBytes,
  })
}

/** Reads a page of nonces with commitment and round, newest first; the next nonce has no round yet. */
export async function listFairness(context: RoundsContext, caller: Caller, query: PageQuery) {
  const { scope, sequence } = await findPlayer(context, caller)
  const last = await context.rounds.last(sequence)
  const { items, nextCursor } = await readPage({
    cursors: context.cursors,
    binding: { list: 'fairness', scope, chain: sequence },
    query,
    read: (below: number | null, max) => context.commitments.list(sequence, { last, below, max }),
    positionOf: ({ nonce }) => nonce,
  })
  const [first] = items
  const playedBelow = (below: number) => context.rounds.listSequence(sequence, { below, max: items.length })
  const played = first === undefined ? [] : await playedBelow(first.nonce + 1)
  const byNonce = new Map(played.map((round) => [round.nonce, round]))
  const entries = items.map((commitment) => ({ commitment, round: byNonce.get(commitment.nonce) ?? null }))
  return { items: entries, nextCursor }
}

/**
 * Opens a tile of a player's round or cashes it out, and settles the round if it is over. Any session of the
 * same player and game may do so, a closed one, too. Source: docs/contract.md, section 11, "Play".
 * @throws ServiceError SESSION_NOT_FOUND, ROUND_NOT_FOUND, and the refusals of the rules
 */
export async function actOnRound(
  context: PlayContext,
  caller: Caller,
  roundId: string,
  action: PlayerAction,
  call: HandlerContext,
): Promise<RoundState> {
  const stored = await findPlayerRound(context, await findPlayer(context, caller), roundId)
  const acted = await applyMessage(context, stored, action)
  const { round } = await settleRound(context, acted, { recover: false, call })
  const [owed] = openMovementIds(round)
  if (call.atOnce === true && owed !== undefined) throw unknownOutcome(resourceOf(round, owed))
  return round
}
