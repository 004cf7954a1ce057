import { answer, type CallHandler, handlers } from '@pitboss/bus/serve-calls'
import { personActing } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import { answerPage } from '@pitboss/storage/read-page'
import { cancelGrant, findGrant, listGrants } from '../actions/manage-grants.ts'
import { grantFreeBets } from '../actions/grant-free-bets.ts'
import type { RoundsContext } from '../../../context.ts'
import { presentFreeBet } from '../../../records/present-free-bet.ts'

/** Calls about grants of free bets. Source: docs/contract.md, section 4, "Free bets". */
export function freeBetCalls(context: RoundsContext): CallHandler[] {
  const { clock } = context
  return [
    ...handlers(
      [endpoints.createFreeBet.call, endpoints.dashboardCreateFreeBet.call],
      async ({ caller, body }, call) => {
        const [now, by] = [clock.now(), personActing(caller, call)]
        return answer(presentFreeBet(await grantFreeBets(context, caller, body, now, by), now), 201)
      },
    ),
    ...handlers(
      [endpoints.listFreeBets.call, endpoints.dashboardListFreeBets.call],
      async ({ caller, query }) => {
        const now = clock.now()
        return answerPage(await listGrants(context, caller, query, now), (one) => presentFreeBet(one, now))
      },
    ),
    ...handlers([endpoints.getFreeBet.call, endpoints.dashboardGetFreeBet.call], async ({ caller, params }) =>
      answer(presentFreeBet(await findGrant(context, caller, params.grant_id), clock.now())),
    ),
    ...handlers(
      [endpoints.cancelFreeBet.call, endpoints.dashboardCancelFreeBet.call],
      async ({ caller, params }, call) => {
        const [now, by] = [clock.now(), personActing(caller, call)]
        return answer(presentFreeBet(await cancelGrant(context, caller, params.grant_id, now, by), now))
      },
    ),
  ]
}
