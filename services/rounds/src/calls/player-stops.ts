import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import {
  dashboardLiftStop,
  dashboardListStops,
  dashboardStopPlayer,
  liftStop,
  listStops,
  stopPlayer,
} from '@pitboss/contracts/endpoints/players'
import type { Clock } from '@pitboss/runtime/clock'
import { answerPage } from '@pitboss/storage/read-page'
import type { PlayerStops } from '../actions/player-stops.ts'
import { presentStop } from '../records/present-stop.ts'

type Stop = Awaited<ReturnType<PlayerStops['stop']>>

/** Calls of operators and their people about stops. Source: docs/contract.md, section 4, "Stops". */
export function createStopHandlers({ stops, clock }: { stops: PlayerStops; clock: Clock }): CallHandler[] {
  const answer = (stop: Stop) => ({ status: 200, body: presentStop(stop, clock.now()) })
  const list = async (caller: Caller, playerId: string, query: Parameters<PlayerStops['list']>[2]) => {
    const page = await stops.list(caller, playerId, query)
    return answerPage(page, (stop) => presentStop(stop, clock.now()))
  }

  return [
    handler(stopPlayer.call, async ({ caller, params, body }) =>
      answer(await stops.stop(caller, params.player_id, body, null)),
    ),
    handler(dashboardStopPlayer.call, async ({ caller, params, body }, context) =>
      answer(await stops.stop(caller, params.player_id, body, actedBy(caller, context))),
    ),
    handler(liftStop.call, async ({ caller, params, body }) =>
      answer(await stops.lift(caller, params.player_id, body.reason, null)),
    ),
    handler(dashboardLiftStop.call, async ({ caller, params, body }, context) =>
      answer(await stops.lift(caller, params.player_id, body.reason, actedBy(caller, context))),
    ),
    handler(listStops.call, ({ caller, params, query }) => list(caller, params.player_id, query)),
    handler(dashboardListStops.call, ({ caller, params, query: { environment: _environment, ...query } }) =>
      list(caller, params.player_id, query),
    ),
  ]
}
