import { type Poll, startPoll } from '@pitboss/runtime/poll'
import { createLeaseHolder, type Lease } from '@pitboss/storage/lease'
import type { Logger } from 'pino'
import type { AdvanceReplays } from '../actions/advance-replays.ts'

/** How long a dead replica keeps the others from the replay jobs. */
export const replayLeaseTtlMs = 5000
const idleMs = 500

/** Advances all replay jobs page by page in turn, on one replica at a time. */
export function startReplayWorker({
  advanceReplays,
  lease,
  logger,
}: {
  advanceReplays: AdvanceReplays
  lease: Lease
  logger: Logger
}): Poll {
  const holder = createLeaseHolder(lease)
  const poll = startPoll({
    event: 'replay.interrupted',
    level: 'warn',
    everyMs: idleMs,
    work: async (stopping) => {
      if ((await holder.hold()) !== null && (await advanceReplays(stopping))) return 0
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
