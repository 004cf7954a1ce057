import type { Poll } from '@pitboss/runtime/poll'
import { startLeasedPoll } from '@pitboss/storage/start-leased-poll'
import type { Wing } from '../../context.ts'
import { advanceReplays } from './actions/advance-replays.ts'
import { replayCalls } from './calls/replays.ts'
import type { ReplaysContext } from './actions/read-replays.ts'
import { createReplayStore, replayIndexes } from './storage/replay-store.ts'

/** How long a dead replica keeps the others from the jobs. */
const leaseTtlMs = 5000
/** While a job runs, and while none does: who orders one wakes the worker of his process. */
const [everyMs, idleMs] = [500, 5000]

/** Replays of recorded events to an endpoint. Source: docs/contract.md, sections 7, 11 and 12. */
export const replays: Wing = {
  indexes: { replays: replayIndexes },
  audited: ['replays'],
  open(core, { clockAheadMs, replaysMax }) {
    const { db, clock, logger } = core
    let worker: Poll | null = null
    const store = createReplayStore(db)
    const context: ReplaysContext = { ...core, replaysMax, replays: store, wake: () => worker?.wake() }
    const turn = { advancedTo: '' }
    return {
      calls: replayCalls(context),
      start() {
        worker = startLeasedPoll({
          ...{ event: 'replay.interrupted', level: 'warn', everyMs, logger },
          lease: { db, name: 'replays', ttlMs: leaseTtlMs, clock, clockAheadMs },
          idle: { isIdle: async () => !(await store.areLeft()), everyMs: idleMs },
          work: (stopping) => advanceReplays(context, turn, stopping),
        })
        return worker
      },
    }
  },
}
