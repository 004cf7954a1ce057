import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import {
  cashOut,
  getFairnessBook,
  getPlayerRound,
  getPlayerSession,
  listPlayerRounds as listEndpoint,
  playRound as playEndpoint,
  revealTile,
} from '@pitboss/contracts/endpoints/play'
import { answerPage } from '@pitboss/storage/read-page'
import { actOnRound } from '../actions/act-on-round.ts'
import { findPlayer, findPlayerRound } from '../actions/find-player.ts'
import type { Parts } from '../actions/parts.ts'
import type { PlayRound } from '../actions/play-round.ts'
import { listFairness, listPlayerRounds } from '../actions/read-player-rounds.ts'
import { showPlayer } from '../actions/show-player.ts'
import type { RoundsContext } from '../context.ts'
import { presentPlayerSession } from '../records/present-player-session.ts'
import { presentFairness, presentRound } from '../records/present-round.ts'

/** Calls of a player's browser, under `/v1/game`. Source: docs/contract.md, sections 4 and 11. */
export function playerCalls(
  context: RoundsContext & Pick<Parts, 'actor' | 'settleRound'> & { readonly playRound: PlayRound },
): CallHandler[] {
  return [
    handler(getPlayerSession.call, async ({ caller }, call) => ({
      status: 200,
      body: presentPlayerSession(await showPlayer(context, caller, call), caller.account.currencies),
    })),
    handler(listEndpoint.call, async ({ caller, query }) =>
      answerPage(await listPlayerRounds(context, caller, query), presentRound),
    ),
    handler(getPlayerRound.call, async ({ caller, params }) => {
      const player = await findPlayer(context, caller)
      const { round } = await findPlayerRound(context, player, params.round_id)
      await context.rounds.show(round.id)
      return { status: 200, body: presentRound(round) }
    }),
    handler(playEndpoint.call, async ({ caller, body }, call) => ({
      status: 201,
      body: presentRound(await context.playRound(caller, body, call)),
    })),
    handler(revealTile.call, async ({ caller, params, body: { tile } }, call) => ({
      status: 200,
      body: presentRound(await actOnRound(context, caller, params.round_id, { type: 'reveal', tile }, call)),
    })),
    handler(cashOut.call, async ({ caller, params }, call) => ({
      status: 200,
      body: presentRound(await actOnRound(context, caller, params.round_id, { type: 'cash-out' }, call)),
    })),
    handler(getFairnessBook.call, async ({ caller, query }) =>
      answerPage(await listFairness(context, caller, query), presentFairness),
    ),
  ]
}
