import type { Wing } from '../../wing.ts'
import { raiseAlarms } from './actions/return-alarms.ts'
import { returnCalls } from './calls/returns.ts'
import type { ReturnsContext } from './context.ts'
import { registerAlarms } from './metrics.ts'
import { createReturnsFold } from './storage/returns-fold.ts'
import { createReturnsStore, returnIndexes } from './storage/returns-store.ts'

/** The watch of returns to players. Source: docs/rtp-watch.md. */
export const returns: Wing = {
  name: 'returns',
  indexes: returnIndexes,
  audited: ['return_alarms'],
  seals: [],
  open(core, { db, registry, returnsAlarm }) {
    const context: ReturnsContext = { ...core, returns: createReturnsStore({ db }), rule: returnsAlarm }
    if (registry !== undefined) registerAlarms(registry, context.returns)
    return {
      calls: returnCalls(context),
      fold: { fold: createReturnsFold({ ...core, db }), afterwards: () => raiseAlarms(context) },
    }
  },
}
