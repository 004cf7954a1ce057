import { type Poll, startPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { SweepRounds } from '../actions/recover-round.ts'

const sweepEveryMs = 500

/** Sweeps the rounds that are due, on every replica at once. */
export function startSweeper({ sweep, logger }: { sweep: SweepRounds; logger: Logger }): Poll {
  return startPoll({ event: 'sweep.failed', everyMs: sweepEveryMs, work: sweep, logger })
}
