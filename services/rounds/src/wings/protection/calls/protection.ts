import { answer, type CallHandler, handler, handlers } from '@pitboss/bus/serve-calls'
import { actedBy, personActing } from '@pitboss/contracts/audit'
import { answerRealityCheck as realityCheck } from '@pitboss/contracts/endpoints/play'
import * as endpoints from '@pitboss/contracts/endpoints/players'
import { answerPage } from '@pitboss/storage/read-page'
import { presentSession } from '../../../records/present-offer.ts'
import { answerRealityCheck } from '../actions/enforce-start-interval.ts'
import { setLimits, showLimits } from '../actions/set-limits.ts'
import { liftStop, listStops, stopPlayer } from '../actions/stop-player.ts'
import type { ProtectionContext } from '../context.ts'
import { presentStop } from '../records/present-protection.ts'

/** Calls about limits, stops and reality checks. Source: docs/contract.md, section 4. */
export function protectionCalls(context: ProtectionContext): CallHandler[] {
  const present = (stop: Parameters<typeof presentStop>[0]) => presentStop(stop, context.clock.now())
  return [
    ...handlers(
      [endpoints.putLimits.call, endpoints.dashboardPutLimits.call],
      async ({ caller, params, body }, call) =>
        answer(await setLimits(context, caller, params.player_id, body, actedBy(caller, call))),
    ),
    ...handlers([endpoints.getLimits.call, endpoints.dashboardGetLimits.call], async ({ caller, params }) =>
      answer(await showLimits(context, caller.scope, params.player_id)),
    ),
    ...handlers(
      [endpoints.stopPlayer.call, endpoints.dashboardStopPlayer.call],
      async ({ caller, params, body }, call) => {
        const by = personActing(caller, call)
        return answer(present(await stopPlayer(context, caller, params.player_id, body, by)))
      },
    ),
    ...handlers(
      [endpoints.liftStop.call, endpoints.dashboardLiftStop.call],
      async ({ caller, params, body: { reason } }, call) => {
        const by = personActing(caller, call)
        return answer(present(await liftStop(context, caller, params.player_id, reason, by)))
      },
    ),
    ...handlers(
      [endpoints.listStops.call, endpoints.dashboardListStops.call],
      async ({ caller, params, query }) =>
        answerPage(await listStops(context, caller, params.player_id, query), present),
    ),
    handler(realityCheck.call, async ({ caller, body: { choice } }) => {
      const now = context.clock.now()
      return answer(presentSession(await answerRealityCheck(context, caller, choice, now), now))
    }),
  ]
}
