import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { opsLiftReturnAlarm, opsListReturnAlarms, opsListReturns } from '@pitboss/contracts/calls/rounds'
import { dashboardListReturns } from '@pitboss/contracts/endpoints/rounds'
import { answerPage } from '@pitboss/storage/read-page'
import type { WatchReturns } from '../actions/watch-returns.ts'
import { presentAlarm, presentOpsReturn, presentReturn } from '../records/present-return.ts'

/** Calls about the watch of returns. Source: docs/contract.md, sections 10 and 11, "Returns". */
export function createReturnHandlers({ watch }: { watch: WatchReturns }): CallHandler[] {
  return [
    handler(dashboardListReturns.call, async ({ caller, query }) =>
      answerPage(await watch.list(caller, query), presentReturn),
    ),
    handler(opsListReturns, async ({ after, limit, ...where }) => {
      const { items, next } = await watch.listOf(where, { after, max: limit })
      return { data: items.map(presentOpsReturn), next }
    }),
    handler(opsListReturnAlarms, async ({ after, limit }) => {
      const { items, next } = await watch.listAlarms({ after, max: limit })
      return { data: items.map(presentAlarm), next }
    }),
    handler(opsLiftReturnAlarm, async ({ order, alarmId, keepDown }, { requestId }) => {
      const { alarm, broughtBack } = await watch.lift(order, alarmId, keepDown, requestId)
      return { alarm: presentAlarm(alarm), brought_back: broughtBack }
    }),
  ]
}
