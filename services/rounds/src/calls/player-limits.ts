import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import {
  dashboardGetLimits,
  dashboardPutLimits,
  getLimits,
  putLimits,
} from '@pitboss/contracts/endpoints/players'
import type { PlayerLimits } from '../actions/player-limits.ts'

/** Calls about the limits of players. Source: docs/contract.md, section 4, "Limits of a player". */
export function createPlayerLimitHandlers({ limits }: { limits: PlayerLimits }): CallHandler[] {
  return [
    handler(putLimits.call, async ({ caller, params, body }, context) => ({
      status: 200,
      body: await limits.put(caller, params.player_id, body, actedBy(caller, context)),
    })),
    handler(dashboardPutLimits.call, async ({ caller, params, body }, context) => ({
      status: 200,
      body: await limits.put(caller, params.player_id, body, actedBy(caller, context)),
    })),
    handler(getLimits.call, async ({ caller, params }) => ({
      status: 200,
      body: await limits.show(caller.scope, params.player_id),
    })),
    handler(dashboardGetLimits.call, async ({ caller, params }) => ({
      status: 200,
      body: await limits.show(caller.scope, params.player_id),
    })),
  ]
}
