import { handler } from '@pitboss/bus/serve-calls'
import { opsLiftReturnAlarm, opsListReturnAlarms, opsListReturns } from '@pitboss/contracts/calls/rounds'
import { dashboardListReturns } from '@pitboss/contracts/endpoints/rounds'
import { startPoll } from '@pitboss/runtime/poll'
import { registerGauge } from '@pitboss/runtime/register-gauge'
import { answerPage } from '@pitboss/storage/read-page'
import type { Registry } from 'prom-client'
import type { Wing } from '../../wing.ts'
import {
  liftAlarm,
  listReturnAlarms,
  listReturns,
  listReturnsOf,
  raiseAlarms,
  type ReturnsContext,
} from './actions/returns.ts'
import { presentAlarm, presentReturn } from './records/present-return.ts'
import { createReturnsFold } from './storage/returns-fold.ts'
import { createReturnsStore, returnIndexes, type ReturnsStore } from './storage/returns-store.ts'

/** Alarms are raised when they are counted; a backstop looks for others. */
const lookEveryMs = 5000

/** The watch of returns to players. Source: docs/rtp-watch.md; docs/contract.md, sections 10 and 11. */
export const returns: Wing = {
  indexes: returnIndexes,
  audited: ['return_alarms'],
  open(core, { db, registry, returnsAlarm }) {
    const context: ReturnsContext = { ...core, returns: createReturnsStore({ db }), rule: returnsAlarm }
    registerAlarms(registry, context.returns)
    const look = { event: 'returns.failed', everyMs: lookEveryMs, logger: core.logger }
    return {
      calls: [
        handler(dashboardListReturns.call, async ({ caller, query }) =>
          answerPage(await listReturns(context, caller, query), presentReturn),
        ),
        handler(opsListReturns, (query) => listReturnsOf(context, query)),
        handler(opsListReturnAlarms, (query) => listReturnAlarms(context, query)),
        handler(opsLiftReturnAlarm, async (asked, { requestId }) => {
          const { alarm, broughtBack } = await liftAlarm(context, asked, requestId)
          return { alarm: presentAlarm(alarm), brought_back: broughtBack }
        }),
      ],
      fold: { fold: createReturnsFold({ ...core, db }), afterwards: () => raiseAlarms(context) },
      start: () => [startPoll({ ...look, work: () => raiseAlarms(context) })],
    }
  },
}

export function registerAlarms(registry: Registry, returns: Pick<ReturnsStore, 'countOpen'>): void {
  const help = 'Alarms of the watch of returns to players that nobody has lifted'
  registerGauge(registry, 'pitboss_return_alarms', help, returns.countOpen)
}
