import { answer, type CallHandler, handlers } from '@pitboss/bus/serve-calls'
import { personActing } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/players'
import { answerPage } from '@pitboss/storage/read-page'
import { liftStop, listStops, stopPlayer } from '../actions/stop-player.ts'
import type { ProtectionContext } from '../context.ts'
import { presentStop } from '../records/present-stop.ts'

/** Calls of operators and their people about stops. Source: docs/contract.md, section 4, "Stops". */
export function stopCalls(context: ProtectionContext): CallHandler[] {
  const present = (stop: Parameters<typeof presentStop>[0]) => presentStop(stop, context.clock.now())
  return [
    ...handlers(
      [endpoints.stopPlayer.call, endpoints.dashboardStopPlayer.call],
      async ({ caller, params, body }, call) =>
        answer(
          present(await stopPlayer(context, caller, params.player_id, body, personActing(caller, call))),
        ),
    ),
    ...handlers(
      [endpoints.liftStop.call, endpoints.dashboardLiftStop.call],
      async ({ caller, params, body: { reason } }, call) =>
        answer(
          present(await liftStop(context, caller, params.player_id, reason, personActing(caller, call))),
        ),
    ),
    ...handlers(
      [endpoints.listStops.call, endpoints.dashboardListStops.call],
      async ({ caller, params, query }) =>
        answerPage(await listStops(context, caller, params.player_id, query), present),
    ),
  ]
}
