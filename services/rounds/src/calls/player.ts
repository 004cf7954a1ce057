import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as endpoints from '@pitboss/contracts/endpoints/play'
import { answerPage } from '@pitboss/storage/read-page'
import { actOnRound } from '../actions/act-on-round.ts'
import { findPlayer, findPlayerRound } from '../actions/find-player.ts'
import { playRound } from '../actions/play-round.ts'
import { listFairness, listPlayerRounds } from '../actions/read-player-rounds.ts'
import { showFirst } from '../actions/show-first.ts'
import { showPlayer } from '../actions/show-player.ts'
import type { PlayContext, RoundsContext } from '../context.ts'
import { presentFairness, presentRound } from '../records/present-round.ts'

type ActedOn = Parameters<typeof actOnRound> extends [unknown, ...infer Asked] ? Asked : never

/** Calls of a player's browser, under `/v1/game`. Source: docs/contract.md, sections 4 and 11. */
export function playerCalls(context: RoundsContext & PlayContext): CallHandler[] {
  const act = (...asked: ActedOn) =>
    showFirst(context, async () => answer(presentRound(await actOnRound(context, ...asked))))

  return [
    handler(endpoints.getPlayerSession.call, async ({ caller }, call) =>
      answer(await showPlayer(context, caller, call)),
    ),
    handler(endpoints.listPlayerRounds.call, async ({ caller, query }) =>
      answerPage(await listPlayerRounds(context, caller, query), presentRound),
    ),
    handler(endpoints.getPlayerRound.call, async ({ caller, params }) => {
      const player = await findPlayer(context, caller)
      const { round } = await findPlayerRound(context, player, params.round_id)
      await context.rounds.show(round.id)
      return answer(presentRound(round))
    }),
    handler(endpoints.playRound.call, ({ caller, body }, call) =>
      showFirst(context, async () => answer(presentRound(await playRound(context, caller, body, call)), 201)),
    ),
    handler(endpoints.revealTile.call, ({ caller, params, body: { tile } }, call) =>
      act(caller, params.round_id, { type: 'reveal', tile }, call),
    ),
    handler(endpoints.cashOut.call, ({ caller, params }, call) =>
      act(caller, params.round_id, { type: 'cash-out' }, call),
    ),
    handler(endpoints.getFairnessBook.call, async ({ caller, query }) =>
      answerPage(await listFairness(context, caller, query), presentFairness),
    ),
  ]
}
