import type { Poll } from '@pitboss/runtime/poll'
import type { Lease } from '@pitboss/storage/lease'
import { startLeasedPoll } from '@pitboss/storage/start-leased-poll'
import { foldFacts } from '../actions/fold-facts.ts'
import type { RoundsContext } from '../context.ts'

/** A pass costs about the same for one round as for many, so it counts those that ended in a second. */
const everyMs = 1000
/** From so many rounds in a pass on, the next one follows without a pause. */
const backlogFrom = 100

/**
 * Keeps the sums of rounds up to date. One replica at a time does so, by a lease that only saves double work:
 * the sums are right without it.
 */
export function startFactFolder(
  context: Pick<RoundsContext, 'facts' | 'hooks' | 'logger'>,
  lease: Lease,
): Pick<Poll, 'stop'> {
  return startLeasedPoll({
    event: 'reports.failed',
    everyMs,
    lease,
    logger: context.logger,
    async work(stopping) {
      while (!stopping.aborted) {
        const counted = await foldFacts(context)
        for (const { afterwards } of context.hooks.folds) await afterwards?.()
        if (counted < backlogFrom) break
      }
      return false
    },
  })
}
