import type { Poll } from '@pitboss/runtime/poll'
import type { Lease } from '@pitboss/storage/lease'
import { startLeasedPoll } from '@pitboss/storage/start-leased-poll'
import type { Logger } from 'pino'

/** A pass costs about the same for one round as for many, so it counts those that ended in a second. */
const everyMs = 1000
/** From so many rounds in a pass on, the next one follows without a pause. */
const backlogFrom = 100

/**
 * Keeps reports and the watch of returns up to date. One replica at a time does so, by a lease that only
 * saves double work: the sums are right without it.
 * @param applyFacts counts a batch of waiting facts; answers how many rounds had one
 * @param raise tells of the alarms that the facts were, and acts on them
 */
export function startReportProjector({
  applyFacts,
  raise,
  lease,
  logger,
}: {
  applyFacts: () => Promise<number>
  raise: () => Promise<void>
  lease: Lease
  logger: Logger
}): Pick<Poll, 'stop'> {
  return startLeasedPoll({
    event: 'reports.failed',
    everyMs,
    lease,
    logger,
    async work(stopping) {
      while (!stopping.aborted) {
        const counted = await applyFacts()
        await raise()
        if (counted < backlogFrom) break
      }
      return false
    },
  })
}
