import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { opsRoundsStatus, opsShowRound } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import {
  dashboardGetRound,
  dashboardListRounds,
  getRound,
  listRounds,
  voidRound as voidRoundEndpoint,
} from '@pitboss/contracts/endpoints/rounds'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import type { ReadRounds } from '../actions/read-rounds.ts'
import type { VoidRound } from '../actions/void-round.ts'
import { presentRound } from '../records/present-round.ts'

type RoundsDeps = { rounds: ReadRounds; voidRound: VoidRound }

/** Calls of operators and operations about rounds. Source: docs/contract.md, sections 4, 10 and 11. */
export function createRoundHandlers({ rounds, voidRound }: RoundsDeps): CallHandler[] {
  async function list(caller: Caller, query: Parameters<ReadRounds['list']>[1]) {
    const { items, nextCursor } = await rounds.list(caller, query)
    return { status: 200, body: { data: items.map(presentRound), next_cursor: nextCursor } }
  }

  async function show(caller: Caller, roundId: string) {
    const { round } = await rounds.find(caller, roundId)
    return { status: 200, body: presentRound(round) }
  }

  return [
    handler(listRounds.call, ({ caller, query }) => list(caller, query)),
    handler(dashboardListRounds.call, ({ caller, query: { environment: _environment, ...query } }) =>
      list(caller, query),
    ),
    handler(getRound.call, ({ caller, params }) => show(caller, params.round_id)),
    handler(dashboardGetRound.call, ({ caller, params }) => show(caller, params.round_id)),
    handler(voidRoundEndpoint.call, async ({ caller, params }, context) => {
      const round = await voidRound(caller, params.round_id, context)
      return { status: round.status === 'VOIDED' ? 200 : 202, body: presentRound(round) }
    }),
    handler(opsShowRound, async ({ roundId }) => {
      const round = await rounds.findAnywhere(roundId)
      return {
        operator_id: operatorHandleOf(round.operatorId),
        round: presentRound(round),
        history: round.history.map(({ at, what }) => ({ at: at.toISOString(), what })),
      }
    }),
    handler(opsRoundsStatus, async () => {
      const { count, oldestAt } = await rounds.unfinished()
      return { unfinished: count, oldest_unfinished_at: oldestAt?.toISOString() ?? null }
    }),
  ]
}
