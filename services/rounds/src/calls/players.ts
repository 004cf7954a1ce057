import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { opsErasePlayer, opsPlayerData } from '@pitboss/contracts/calls/rounds'
import { getPlayer, listNonces } from '@pitboss/contracts/endpoints/players'
import type { Clock } from '@pitboss/runtime/clock'
import { answerPage } from '@pitboss/storage/read-page'
import type { PlayerData } from '../actions/player-data.ts'
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

/** Calls of operations for a player who asks for his data or for its erasure. Source: docs/data.md. */
export function createPlayerDataHandlers({ playerData }: { playerData: PlayerData }): CallHandler[] {
  return [
    handler(opsPlayerData, ({ scope, playerId, kind, before }) =>
      playerData.page(scope, playerId, kind, before),
    ),
    handler(opsErasePlayer, ({ order, scope, playerId }, { requestId }) =>
      playerData.erase({ scope, playerId, order }, requestId),
    ),
  ]
}
