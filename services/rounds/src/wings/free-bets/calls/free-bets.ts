import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import { answerPage } from '@pitboss/storage/read-page'
import { cancelGrant, findGrant, type ListGrantsQuery, listGrants } from '../actions/manage-grants.ts'
import { type FreeBetBody, grantFreeBets } from '../actions/grant-free-bets.ts'
import type { RoundsContext } from '../../../context.ts'
import { presentFreeBet } from '../../../records/present-free-bet.ts'

/** Calls about grants of free bets. Source: docs/contract.md, section 4, "Free bets". */
export function freeBetCalls(context: RoundsContext): CallHandler[] {
  const { clock } = context

  async function grant(caller: Caller, body: FreeBetBody, by: ActedBy | null) {
    const now = clock.now()
    return { status: 201, body: presentFreeBet(await grantFreeBets(context, caller, body, now, by), now) }
  }

  async function list(caller: Caller, query: ListGrantsQuery) {
    const now = clock.now()
    return answerPage(await listGrants(context, caller, query, now), (one) => presentFreeBet(one, now))
  }

  async function show(caller: Caller, grantId: string) {
    return { status: 200, body: presentFreeBet(await findGrant(context, caller, grantId), clock.now()) }
  }

  async function cancel(caller: Caller, grantId: string, by: ActedBy | null) {
    const now = clock.now()
    return { status: 200, body: presentFreeBet(await cancelGrant(context, caller, grantId, now, by), now) }
  }

  return [
    handler(endpoints.createFreeBet.call, ({ caller, body }) => grant(caller, body, null)),
    handler(endpoints.dashboardCreateFreeBet.call, ({ caller, body }, context) =>
      grant(caller, body, actedBy(caller, context)),
    ),
    handler(endpoints.listFreeBets.call, ({ caller, query }) => list(caller, query)),
    handler(
      endpoints.dashboardListFreeBets.call,
      ({ caller, query: { environment: _environment, ...query } }) => list(caller, query),
    ),
    handler(endpoints.getFreeBet.call, ({ caller, params }) => show(caller, params.grant_id)),
    handler(endpoints.dashboardGetFreeBet.call, ({ caller, params }) => show(caller, params.grant_id)),
    handler(endpoints.cancelFreeBet.call, ({ caller, params }) => cancel(caller, params.grant_id, null)),
    handler(endpoints.dashboardCancelFreeBet.call, ({ caller, params }, context) =>
      cancel(caller, params.grant_id, actedBy(caller, context)),
    ),
  ]
}
