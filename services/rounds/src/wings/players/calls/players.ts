import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { opsErasePlayer, opsPlayerData } from '@pitboss/contracts/calls/rounds'
import { getPlayer, listNonces } from '@pitboss/contracts/endpoints/players'
import { answerPage } from '@pitboss/storage/read-page'
import type { RoundsContext } from '../../../context.ts'
import { erasePlayer, readPlayerData } from '../actions/player-data.ts'
import { listNoncesOf, showPlayerToDesk } from '../actions/read-players.ts'
import { presentNonce, presentPlayer } from '../records/present-player.ts'

/** Calls about one player. Source: docs/contract.md, section 3, "Player"; docs/data.md. */
export function playerDeskCalls(context: RoundsContext): CallHandler[] {
  return [
    handler(getPlayer.call, async ({ caller, params }) =>
      answer(presentPlayer(await showPlayerToDesk(context, caller, params.player_id, context.clock.now()))),
    ),
    handler(listNonces.call, async ({ caller, params: { player_id: playerId, game }, query }) =>
      answerPage(await listNoncesOf(context, caller, { playerId, game }, query), presentNonce),
    ),
    handler(opsPlayerData, ({ scope, playerId, kind, before }) =>
      readPlayerData(context, scope, playerId, kind, before),
    ),
    handler(opsErasePlayer, ({ order, scope, playerId }, { requestId }) =>
      erasePlayer(context, { scope, playerId, order }, requestId),
    ),
  ]
}
