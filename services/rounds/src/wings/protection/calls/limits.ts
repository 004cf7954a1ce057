import { answer, type CallHandler, handlers } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/players'
import { setLimits, showLimits } from '../actions/set-limits.ts'
import type { ProtectionContext } from '../context.ts'

/** Calls about the limits of players. Source: docs/contract.md, section 4, "Limits of a player". */
export function limitCalls(context: ProtectionContext): CallHandler[] {
  return [
    ...handlers(
      [endpoints.putLimits.call, endpoints.dashboardPutLimits.call],
      async ({ caller, params, body }, call) =>
        answer(await setLimits(context, caller, params.player_id, body, actedBy(caller, call))),
    ),
    ...handlers([endpoints.getLimits.call, endpoints.dashboardGetLimits.call], async ({ caller, params }) =>
      answer(await showLimits(context, caller.scope, params.player_id)),
    ),
  ]
}
