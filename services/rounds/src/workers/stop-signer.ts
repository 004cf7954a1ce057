import { type Poll, startPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'

/** While a record waits, and else. */
const signEveryMs = 500
const idleMs = 2000

/**
 * Has the records of stops signed, on every replica at once; while auth is away they wait. @param sign
 * answers how many waited
 */
export function startStopSigner({
  sign,
  logger,
}: {
  sign: (stopping: AbortSignal) => Promise<number>
  logger: Logger
}): Poll {
  return startPoll({
    event: 'stop-records.not-signed',
    everyMs: signEveryMs,
    work: async (stopping) => ((await sign(stopping)) === 0 ? idleMs : signEveryMs),
    logger,
    level: 'warn',
  })
}
