import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { cancelFreeBet, createFreeBet, getFreeBet, listFreeBets } from '@pitboss/contracts/endpoints/rounds'
import type { Clock } from '@pitboss/runtime/clock'
import { answerPage } from '@pitboss/storage/read-page'
import type { FreeBets } from '../actions/free-bets.ts'
import { presentFreeBet } from '../records/present-free-bet.ts'

/**
 * Calls about grants of free bets; their use is part of playing a round.
 * Source: docs/contract.md, section 4, "Free bets".
 */
export function createFreeBetHandlers({
  freeBets,
  clock,
}: {
  freeBets: FreeBets
  clock: Clock
}): CallHandler[] {
  return [
    handler(createFreeBet.call, async ({ caller, body }) => {
      const now = clock.now()
      return { status: 201, body: presentFreeBet(await freeBets.grant(caller, body, now), now) }
    }),
    handler(listFreeBets.call, async ({ caller, query }) => {
      const now = clock.now()
      return answerPage(await freeBets.list(caller, query, now), (grant) => presentFreeBet(grant, now))
    }),
    handler(getFreeBet.call, async ({ caller, params }) => ({
      status: 200,
      body: presentFreeBet(await freeBets.find(caller, params.grant_id), clock.now()),
    })),
    handler(cancelFreeBet.call, async ({ caller, params }) => {
      const now = clock.now()
      return { status: 200, body: presentFreeBet(await freeBets.cancel(caller, params.grant_id, now), now) }
    }),
  ]
}
