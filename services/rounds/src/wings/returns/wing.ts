import { startPoll } from '@pitboss/runtime/poll'
import type { Wing } from '../../wing.ts'
import { raiseAlarms } from './actions/return-alarms.ts'
import { returnCalls } from './calls/returns.ts'
import type { ReturnsContext } from './context.ts'
import { registerAlarms } from './metrics.ts'
import { createReturnsFold } from './storage/returns-fold.ts'
import { createReturnsStore, returnIndexes } from './storage/returns-store.ts'

/** Alarms are raised when they are counted; a backstop looks for others. */
const lookEveryMs = 5000

/** The watch of returns to players. Source: docs/rtp-watch.md. */
export const returns: Wing = {
  indexes: returnIndexes,
  audited: ['return_alarms'],
  open(core, { db, registry, returnsAlarm }) {
    const context: ReturnsContext = { ...core, returns: createReturnsStore({ db }), rule: returnsAlarm }
    registerAlarms(registry, context.returns)
    const look = { event: 'returns.failed', everyMs: lookEveryMs, logger: core.logger }
    return {
      calls: returnCalls(context),
      fold: { fold: createReturnsFold({ ...core, db }), afterwards: () => raiseAlarms(context) },
      start: () => [startPoll({ ...look, work: () => raiseAlarms(context) })],
    }
  },
}
