import type { Poll } from '@pitboss/runtime/poll'
import type { Lease } from '@pitboss/storage/lease'
import { startLeasedPoll } from '@pitboss/storage/start-leased-poll'
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
  return startLeasedPoll({
    event: 'replay.interrupted',
    level: 'warn',
    everyMs: idleMs,
    lease,
    work: advanceReplays,
    logger,
  })
}
