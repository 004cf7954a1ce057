import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import {
  cancelFreeBet,
  createFreeBet,
  dashboardCancelFreeBet,
  dashboardCreateFreeBet,
  dashboardGetFreeBet,
  dashboardListFreeBets,
  getFreeBet,
  listFreeBets,
} from '@pitboss/contracts/endpoints/rounds'
import type { Clock } from '@pitboss/runtime/clock'
import { answerPage } from '@pitboss/storage/read-page'
import type { FreeBets } from '../actions/free-bets.ts'
import { presentFreeBet } from '../records/present-free-bet.ts'

/**
 * Calls of operators about grants of free bets; their use is part of playing a round.
 * Source: docs/contract.md, section 4, "Free bets".
 */
export function createFreeBetHandlers({
  freeBets,
  clock,
}: {
  freeBets: FreeBets
  clock: Clock
}): CallHandler[] {
  async function grant(caller: Caller, body: Parameters<FreeBets['grant']>[1], by: ActedBy | null) {
    const now = clock.now()
    return { status: 201, body: presentFreeBet(await freeBets.grant(caller, body, now, by), now) }
  }

  async function list(caller: Caller, query: Parameters<FreeBets['list']>[1]) {
    const now = clock.now()
    return answerPage(await freeBets.list(caller, query, now), (one) => presentFreeBet(one, now))
  }

  async function show(caller: Caller, grantId: string) {
    return { status: 200, body: presentFreeBet(await freeBets.find(caller, grantId), clock.now()) }
  }

  async function cancel(caller: Caller, grantId: string, by: ActedBy | null) {
    const now = clock.now()
    return { status: 200, body: presentFreeBet(await freeBets.cancel(caller, grantId, now, by), now) }
  }

  return [
    handler(createFreeBet.call, ({ caller, body }) => grant(caller, body, null)),
    handler(dashboardCreateFreeBet.call, ({ caller, body }, context) =>
      grant(caller, body, actedBy(caller, context)),
    ),
    handler(listFreeBets.call, ({ caller, query }) => list(caller, query)),
    handler(dashboardListFreeBets.call, ({ caller, query: { environment: _environment, ...query } }) =>
      list(caller, query),
    ),
    handler(getFreeBet.call, ({ caller, params }) => show(caller, params.grant_id)),
    handler(dashboardGetFreeBet.call, ({ caller, params }) => show(caller, params.grant_id)),
    handler(cancelFreeBet.call, ({ caller, params }) => cancel(caller, params.grant_id, null)),
    handler(dashboardCancelFreeBet.call, ({ caller, params }, context) =>
      cancel(caller, params.grant_id, actedBy(caller, context)),
    ),
  ]
}
