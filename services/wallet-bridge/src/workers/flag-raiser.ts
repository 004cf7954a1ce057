import type { Poll } from '@pitboss/runtime/poll'
import type { Lease } from '@pitboss/storage/lease'
import { startLeasedPoll } from '@pitboss/storage/start-leased-poll'
import type { Logger } from 'pino'

const everyMs = 2000
/** Longer than one run of the work takes. */
export const flagsLeaseTtlMs = 30_000

/**
 * Raises flags every 2 s, divided by the time scale, on one replica at a time. The lease only saves double
 * work: flags are right without it.
 */
export function startFlagRaiser({
  raise,
  scaleMs,
  lease,
  logger,
}: {
  raise: () => Promise<boolean>
  scaleMs: (ms: number) => number
  lease: Lease
  logger: Logger
}): Pick<Poll, 'stop'> {
  return startLeasedPoll({
    event: 'flags.not-raised',
    level: 'warn',
    everyMs: scaleMs(everyMs),
    lease,
    logger,
    work: raise,
  })
}
