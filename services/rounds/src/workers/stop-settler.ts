import { type Poll, startPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'

/** While a stop waits for rounds to end, and else: a stop closes sessions and ends rounds itself. */
const settleEveryMs = 500
const idleMs = 2000

/**
 * Sees the rounds of stopped players to their end, on every replica at once. @param settle answers how many
 * stops were due
 */
export function startStopSettler({
  settle,
  logger,
}: {
  settle: (stopping: AbortSignal) => Promise<number | void>
  logger: Logger
}): Poll {
  const work = async (stopping: AbortSignal) => ((await settle(stopping)) === 0 ? idleMs : settleEveryMs)
  return startPoll({ event: 'stops.failed', everyMs: settleEveryMs, work, logger })
}
