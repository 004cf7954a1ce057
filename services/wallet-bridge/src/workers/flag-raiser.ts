import type { Poll } from '@pitboss/runtime/poll'
import type { Lease } from '@pitboss/storage/lease'
import { startLeasedPoll } from '@pitboss/storage/start-leased-poll'
import type { Logger } from 'pino'

export const flagsEveryMs = 2000
/** Longer than one run of the work takes. */
export const flagsLeaseTtlMs = 30_000

/**
 * Raises flags again and again, on one replica at a time. The lease only saves double work: flags are right without
 * it.
 */
export function startFlagRaiser({
  raise,
  everyMs,
  lease,
  logger,
}: {
  raise: () => Promise<boolean>
  everyMs: number
  lease: Lease
  logger: Logger
}): Pick<Poll, 'stop'> {
  return startLeasedPoll({ event: 'flags.not-raised', level: 'warn', everyMs, lease, logger, work: raise })
}
