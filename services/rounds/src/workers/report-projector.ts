import { type Poll, startPoll } from '@pitboss/runtime/poll'
import { createLeaseHolder, type Lease } from '@pitboss/storage/lease'
import type { Logger } from 'pino'

const idleMs = 1000

/**
 * Keeps reports up to date. One replica at a time does so, by a lease that only saves double work: the sums
 * are right without it.
 * @param applyFacts counts a batch of waiting facts; answers how many rounds had one
 */
export function startReportProjector({
  applyFacts,
  lease,
  logger,
}: {
  applyFacts: () => Promise<number>
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
      while (!stopping.aborted && (await applyFacts()) > 0);
    },
  })
  return {
    async stop() {
      await poll.stop()
      await holder.release()
    },
  }
}
