import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { getPlayer, listNonces } from '@pitboss/contracts/endpoints/players'
import type { Clock } from '@pitboss/runtime/clock'
import { answerPage } from '@pitboss/storage/read-page'
import type { ReadPlayers } from '../actions/read-players.ts'
import { presentNonce, presentPlayer } from '../records/present-player.ts'

/** Calls of the operator's people about one player. Source: docs/contract.md, section 3, "Player". */
export function createPlayerDeskHandlers({
  players,
  clock,
}: {
  players: ReadPlayers
  clock: Clock
}): CallHandler[] {
  return [
    handler(getPlayer.call, async ({ caller, params }) => ({
      status: 200,
      body: presentPlayer(await players.find(caller, params.player_id, clock.now())),
    })),
    handler(listNonces.call, async ({ caller, params: { player_id: playerId, game }, query }) => {
      const { environment: _environment, ...asked } = query
      return answerPage(await players.listNonces(caller, { playerId, game }, asked), presentNonce)
    }),
  ]
}
