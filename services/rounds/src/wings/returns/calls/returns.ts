import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { opsLiftReturnAlarm, opsListReturnAlarms, opsListReturns } from '@pitboss/contracts/calls/rounds'
import { dashboardListReturns } from '@pitboss/contracts/endpoints/rounds'
import { answerPage } from '@pitboss/storage/read-page'
import { listReturnAlarms, listReturns, listReturnsOf } from '../actions/list-returns.ts'
import { liftAlarm } from '../actions/return-alarms.ts'
import type { ReturnsContext } from '../context.ts'
import { presentAlarm, presentOpsReturn, presentReturn } from '../records/present-return.ts'

/** Calls about the watch of returns. Source: docs/contract.md, sections 10 and 11, "Returns". */
export function returnCalls(context: ReturnsContext): CallHandler[] {
  return [
    handler(dashboardListReturns.call, async ({ caller, query }) =>
      answerPage(await listReturns(context, caller, query), presentReturn),
    ),
    handler(opsListReturns, async ({ after, limit, ...where }) => {
      const { items, next } = await listReturnsOf(context, where, { after, max: limit })
      return { data: items.map(presentOpsReturn), next }
    }),
    handler(opsListReturnAlarms, async ({ after, limit }) => {
      const { items, next } = await listReturnAlarms(context, { after, max: limit })
      return { data: items.map(presentAlarm), next }
    }),
    handler(opsLiftReturnAlarm, async ({ order, alarmId, keepDown }, { requestId }) => {
      const { alarm, broughtBack } = await liftAlarm(context, order, alarmId, keepDown, requestId)
      return { alarm: presentAlarm(alarm), brought_back: broughtBack }
    }),
  ]
}
