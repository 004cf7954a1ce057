import { type Poll, startPoll } from '@pitboss/runtime/poll'
import { createLeaseHolder, type Lease } from '@pitboss/storage/lease'
import type { Logger } from 'pino'
import type { AdvanceReplays } from '../actions/advance-replays.ts'

/** How long a dead replica keeps the others from the replay jobs. */
export const replayLeaseTtlMs = 5000
/** While a job runs. */
const everyMs = 500
/** Who orders a replay wakes the worker of his process. */
const idleMs = 5000

/**
 * Advances all replay jobs page by page in turn, on one replica at a time: the one that has the lease, which
 * nobody takes while no job runs.
 * @param areLeft whether a job runs, or a cancelled one is not counted yet
 */
export function startReplayWorker({
  areLeft,
  advanceReplays,
  lease,
  logger,
}: {
  areLeft: () => Promise<boolean>
  advanceReplays: AdvanceReplays
  lease: Lease
  logger: Logger
}): Poll {
  const holder = createLeaseHolder(lease)
  const poll = startPoll({
    event: 'replay.interrupted',
    level: 'warn',
    everyMs,
    async work(stopping) {
      if (!(await areLeft())) {
        await holder.release()
        return idleMs
      }
      while (!stopping.aborted && (await holder.hold()) !== null && (await advanceReplays(stopping)));
      return everyMs
    },
    logger,
  })
  return {
    wake: poll.wake,
    async stop() {
      await poll.stop()
      await holder.release()
    },
  }
}
