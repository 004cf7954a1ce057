import { type CallHandler, handler, type HandlerContext } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/players'
import { type PutBody, setLimits, showLimits } from '../actions/set-limits.ts'
import type { ProtectionContext } from '../context.ts'

/** Calls about the limits of players. Source: docs/contract.md, section 4, "Limits of a player". */
export function limitCalls(context: ProtectionContext): CallHandler[] {
  const put = async (caller: Caller, playerId: string, body: PutBody, call: HandlerContext) => ({
    status: 200,
    body: await setLimits(context, caller, playerId, body, actedBy(caller, call)),
  })
  const show = async ({ scope }: Caller, playerId: string) => ({
    status: 200,
    body: await showLimits(context, scope, playerId),
  })

  return [
    handler(endpoints.putLimits.call, ({ caller, params, body }, call) =>
      put(caller, params.player_id, body, call),
    ),
    handler(endpoints.dashboardPutLimits.call, ({ caller, params, body }, call) =>
      put(caller, params.player_id, body, call),
    ),
    handler(endpoints.getLimits.call, ({ caller, params }) => show(caller, params.player_id)),
    handler(endpoints.dashboardGetLimits.call, ({ caller, params }) => show(caller, params.player_id)),
  ]
}
