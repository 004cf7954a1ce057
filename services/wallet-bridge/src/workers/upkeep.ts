import { startPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { ReportPending, ShortenWaits } from '../actions/watch-pending.ts'

const reportEveryMs = 5000
const shortenEveryMs = 60_000

/**
 * Reports pending movements every 5 s and shortens waits once a minute, both for the first time at the start.
 */
export function startUpkeep({
  reportPending,
  shortenWaits,
  logger,
}: {
  reportPending: ReportPending
  shortenWaits: ShortenWaits
  logger: Logger
}): { stop(): Promise<void> } {
  const polls = [
    startPoll({ event: 'movements.not-counted', everyMs: reportEveryMs, work: reportPending, logger }),
    startPoll({ event: 'movements.not-held-to-ladder', everyMs: shortenEveryMs, work: shortenWaits, logger }),
  ]
  return {
    async stop() {
      await Promise.all(polls.map((poll) => poll.stop()))
    },
  }
}
