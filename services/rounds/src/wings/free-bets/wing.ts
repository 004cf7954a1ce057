import { answer, handlers } from '@pitboss/bus/serve-calls'
import { personActing } from '@pitboss/contracts/audit'
import * as api from '@pitboss/contracts/endpoints/rounds'
import { answerPage } from '@pitboss/storage/read-page'
import { presentFreeBet } from '../../records/present-offer.ts'
import type { Wing } from '../../wing.ts'
import { cancelGrant, findGrant, grantFreeBets, listGrants } from './actions/grants.ts'

/** Grants of free bets by operators. Source: docs/contract.md, section 4, "Free bets". */
export const freeBets: Wing = {
  open: (context) => ({
    calls: [
      ...handlers(
        [api.createFreeBet.call, api.dashboardCreateFreeBet.call],
        async ({ caller, body }, call) => {
          const acting = { now: context.clock.now(), by: personActing(caller, call) }
          return answer(presentFreeBet(await grantFreeBets(context, caller, body, acting), acting.now), 201)
        },
      ),
      ...handlers([api.listFreeBets.call, api.dashboardListFreeBets.call], async ({ caller, query }) => {
        const now = context.clock.now()
        return answerPage(await listGrants(context, caller, query, now), (one) => presentFreeBet(one, now))
      }),
      ...handlers([api.getFreeBet.call, api.dashboardGetFreeBet.call], async ({ caller, params }) =>
        answer(presentFreeBet(await findGrant(context, caller, params.grant_id), context.clock.now())),
      ),
      ...handlers(
        [api.cancelFreeBet.call, api.dashboardCancelFreeBet.call],
        async ({ caller, params }, call) => {
          const acting = { now: context.clock.now(), by: personActing(caller, call) }
          const grant = await cancelGrant(context, caller, params.grant_id, acting)
          return answer(presentFreeBet(grant, acting.now))
        },
      ),
    ],
  }),
}
