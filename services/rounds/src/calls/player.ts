import { type CallHandler, handler, type HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import {
  answerRealityCheck,
  cashOut,
  getFairnessBook,
  getPlayerRound,
  getPlayerSession,
  listPlayerRounds,
  playRound as playRoundEndpoint,
  revealTile,
} from '@pitboss/contracts/endpoints/play'
import type { Clock } from '@pitboss/runtime/clock'
import { answerPage } from '@pitboss/storage/read-page'
import type { AnswerRealityCheck } from '../actions/answer-reality-check.ts'
import type { ActOnRound, ReadPlayerRounds, ShowPlayer } from '../actions/player.ts'
import type { PlayRound } from '../actions/play-round.ts'
import { presentUsableFreeBet } from '../records/present-free-bet.ts'
import { presentGame } from '../records/present-game.ts'
import { presentFairness, presentRound } from '../records/present-round.ts'
import { presentProtection } from '../records/present-protection.ts'
import { presentSession } from '../records/present-session.ts'

type PlayerDeps = {
  showPlayer: ShowPlayer
  rounds: ReadPlayerRounds
  playRound: PlayRound
  actOnRound: ActOnRound
  realityCheck: AnswerRealityCheck
  clock: Clock
}

/** Calls of a player's browser, under `/v1/game`. Source: docs/contract.md, sections 4 and 11. */
export function createPlayerHandlers({
  showPlayer,
  rounds,
  playRound,
  actOnRound,
  realityCheck,
  clock,
}: PlayerDeps): CallHandler[] {
  async function show(caller: Caller, context: HandlerContext) {
    const { now, session, game, stakeRange, balance, openRound, next, freeBets, spend } = await showPlayer(
      caller,
      context,
    )
    return {
      session: presentSession(session, now),
      game: presentGame(game, caller.account.currencies, { currency: session.currency, range: stakeRange }),
      balance,
      open_round: openRound === null ? null : presentRound(openRound),
      next_round: { server_seed_hash: next.serverSeedHash, nonce: next.nonce },
      free_bets: freeBets.map(presentUsableFreeBet),
      ...(spend === null ? {} : { protection: presentProtection(session, spend, now) }),
    }
  }

  return [
    handler(getPlayerSession.call, async ({ caller }, context) => ({
      status: 200,
      body: await show(caller, context),
    })),
    handler(answerRealityCheck.call, async ({ caller, body: { choice } }) => {
      const now = clock.now()
      return { status: 200, body: presentSession(await realityCheck(caller, choice, now), now) }
    }),
    handler(listPlayerRounds.call, async ({ caller, query }) =>
      answerPage(await rounds.list(caller, query), presentRound),
    ),
    handler(getPlayerRound.call, async ({ caller, params }) => ({
      status: 200,
      body: presentRound(await rounds.find(caller, params.round_id)),
    })),
    handler(playRoundEndpoint.call, async ({ caller, body }, context) => ({
      status: 201,
      body: presentRound(await playRound(caller, body, context)),
    })),
    handler(revealTile.call, async ({ caller, params, body: { tile } }, context) => ({
      status: 200,
      body: presentRound(await actOnRound(caller, params.round_id, { type: 'reveal', tile }, context)),
    })),
    handler(cashOut.call, async ({ caller, params }, context) => ({
      status: 200,
      body: presentRound(await actOnRound(caller, params.round_id, { type: 'cash-out' }, context)),
    })),
    handler(getFairnessBook.call, async ({ caller, query }) =>
      answerPage(await rounds.listFairness(caller, query), presentFairness),
    ),
  ]
}
