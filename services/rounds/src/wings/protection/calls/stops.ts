import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/players'
import { answerPage } from '@pitboss/storage/read-page'
import { liftStop, listStops, stopPlayer } from '../actions/stop-player.ts'
import type { ProtectionContext } from '../context.ts'
import { presentStop } from '../records/present-stop.ts'

/** Calls of operators and their people about stops. Source: docs/contract.md, section 4, "Stops". */
export function stopCalls(context: ProtectionContext): CallHandler[] {
  const present = (stop: Parameters<typeof presentStop>[0]) => presentStop(stop, context.clock.now())

  return [
    handler(endpoints.stopPlayer.call, async ({ caller, params, body }) => ({
      status: 200,
      body: present(await stopPlayer(context, caller, params.player_id, body, null)),
    })),
    handler(endpoints.dashboardStopPlayer.call, async ({ caller, params, body }, call) => ({
      status: 200,
      body: present(await stopPlayer(context, caller, params.player_id, body, actedBy(caller, call))),
    })),
    handler(endpoints.liftStop.call, async ({ caller, params, body: { reason } }) => ({
      status: 200,
      body: present(await liftStop(context, caller, params.player_id, reason, null)),
    })),
    handler(endpoints.dashboardLiftStop.call, async ({ caller, params, body: { reason } }, call) => ({
      status: 200,
      body: present(await liftStop(context, caller, params.player_id, reason, actedBy(caller, call))),
    })),
    handler(endpoints.listStops.call, async ({ caller, params, query }) =>
      answerPage(await listStops(context, caller, params.player_id, query), present),
    ),
    handler(endpoints.dashboardListStops.call, async ({ caller, params, query }) => {
      const { environment: _environment, ...asked } = query
      return answerPage(await listStops(context, caller, params.player_id, asked), present)
    }),
  ]
}
