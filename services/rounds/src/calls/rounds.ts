import { answer, type CallHandler, handler, handlers } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/rounds'
import * as api from '@pitboss/contracts/endpoints/rounds'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import { answerPage } from '@pitboss/storage/read-page'
import { endAsTold, republishEnd, resolveOwed, voidRound } from '../actions/end-round.ts'
import { placeTransaction } from '../actions/place-transaction.ts'
import * as reads from '../actions/read-rounds.ts'
import { showFirst } from '../actions/read-rounds.ts'
import { healOrphan, listOrphans, skipNonces } from '../actions/repair-lost-rounds.ts'
import type { PlayContext, RoundsContext } from '../context.ts'
import { endEvent, presentRound } from '../records/present-round.ts'

type Context = RoundsContext & PlayContext

/** Calls about rounds. Source: docs/contract.md, sections 4, 6, 10 and 11. */
export function roundCalls(context: Context): CallHandler[] {
  const { rounds } = context

  return [
    ...handlers([api.listRounds.call, api.dashboardListRounds.call], async (asked) =>
      answerPage(await reads.listRounds(context, asked), presentRound),
    ),
    ...handlers([api.getRound.call, api.dashboardGetRound.call], async ({ caller, params }) => {
      const { round } = await reads.findRound(context, caller, params.round_id)
      return answer(presentRound(round))
    }),
    handler(api.voidRound.call, ({ caller, params }, call) =>
      showFirst(context, async () => {
        const round = await voidRound(context, caller, params.round_id, call)
        return answer(presentRound(round), round.status === 'VOIDED' ? 200 : 202)
      }),
    ),
    handler(calls.countUnfinishedRounds, async ({ scope }) => ({
      count: await reads.countUnfinished(context, scope),
    })),
    handler(calls.showStakeStanding, async (asked) => ({
      standing: await reads.readStakeStanding(context, asked),
    })),
    handler(calls.opsShowRound, async ({ roundId }) => {
      const { round } = await reads.findAnyRound(context, roundId)
      return {
        operator_id: operatorHandleOf(round.operatorId),
        round: presentRound(round),
        history: round.history.map(({ at, what }) => ({ at: at.toISOString(), what })),
      }
    }),
    handler(calls.opsRoundsBetween, async ({ from, to, after, limit }) => {
      const found = await rounds.between({ from: new Date(from), to: new Date(to) }, after, limit)
      return {
        data: found.map((round) => ({
          round_id: round.id,
          operator_id: operatorHandleOf(round.operatorId),
          event_id: endEvent(round)?.id ?? null,
        })),
      }
    }),
    handler(calls.opsRoundsStatus, async () => {
      const { count, oldestAt } = await rounds.unfinished()
      return { unfinished: count, oldest_unfinished_at: oldestAt?.toISOString() ?? null }
    }),
  ]
}

/** The route that writes movements; wallet-bridge answers their reads. */
export function transactionCalls(context: PlayContext, place = placeTransaction): CallHandler[] {
  return [
    handler(api.placeTransaction.call, ({ caller, body }, call) =>
      showFirst(context, () => place(context, caller, body, call)),
    ),
  ]
}

/** Calls of operations after a database was restored. Source: docs/runbook.md. */
export function restoreCalls(context: Context): CallHandler[] {
  return [
    handler(calls.opsRepublishRound, async ({ order, roundId }) => ({
      event_id: await republishEnd(context, roundId, order.dryRun),
    })),
    handler(calls.opsUnendedRounds, (asked) => reads.listUnended(context, asked)),
    handler(calls.opsSkipNonces, async (asked, { requestId }) => ({
      data: await skipNonces(context, asked, requestId),
    })),
    handler(calls.opsEndRoundAsTold, async (told, { requestId }) => ({
      round_id: told.roundId,
      status: await endAsTold(context, told, requestId),
    })),
    handler(calls.opsCertainMovements, (asked) => reads.listCertain(context, asked)),
    handler(calls.opsResolveOwed, async (asked, { requestId }) => ({
      round_id: asked.roundId,
      status: await resolveOwed(context, asked, requestId),
    })),
    handler(calls.opsOrphanedStakes, async ({ scope, transactionIds }) => ({
      data: (await listOrphans(context, scope, transactionIds)).map(({ movement, stands }) => {
        const { transaction_id, round_id, player_id, game, amount, currency, created_at } = movement
        return { transaction_id, round_id, player_id, game, amount, currency, created_at, stands }
      }),
    })),
    handler(calls.opsHealOrphan, async (heal, { requestId }) => ({
      transaction_id: heal.transactionId,
      refund: await healOrphan(context, heal, requestId),
    })),
  ]
}
