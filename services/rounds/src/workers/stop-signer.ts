import { type Poll, startPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'

const signEveryMs = 500

/** Has the records of stops signed, on every replica at once; while auth is away they wait. */
export function startStopSigner({
  sign,
  logger,
}: {
  sign: (stopping: AbortSignal) => Promise<void>
  logger: Logger
}): Poll {
  return startPoll({
    event: 'stop-records.not-signed',
    everyMs: signEveryMs,
    work: sign,
    logger,
    level: 'warn',
  })
}
