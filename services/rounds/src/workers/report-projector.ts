import { type Poll, startPoll } from '@pitboss/runtime/poll'
import { createLeaseHolder, type Lease } from '@pitboss/storage/lease'
import type { Logger } from 'pino'

const idleMs = 1000

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
  const holder = createLeaseHolder(lease)
  const poll = startPoll({
    event: 'reports.failed',
    everyMs: idleMs,
    logger,
    async work(stopping) {
      if ((await holder.hold()) === null) return
      while (!stopping.aborted) {
        const counted = await applyFacts()
        await raise()
        if (counted === 0) return
      }
    },
  })
  return {
    async stop() {
      await poll.stop()
      await holder.release()
    },
  }
}
