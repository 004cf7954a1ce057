import type { Clock } from '@pitboss/runtime/clock'
import { registerGauge } from '@pitboss/runtime/register-metrics'
import type { Registry } from 'prom-client'
import type { InstanceDocument } from './instances.ts'

/** The part of the collection of instances that is read. */
type Instances = { find(filter: object): { toArray(): Promise<InstanceDocument[]> } }

/**
 * Creates `pitboss_journal_not_done` and `pitboss_journal_oldest_seconds` from the documents of all
 * instances, so that they are the same in every replica, and `pitboss_journal_unowned_streams` of this one.
 */
export function createJournalMetrics({
  registry,
  instances,
  unownedTotal,
  clock,
}: {
  registry: Registry
  instances: Instances
  unownedTotal: () => number
  clock: Clock
}): void {
  const notDone =
    'Numbers of entries above those whose duties are all done: listed, published, recorded, counted'
  registerGauge(registry, 'pitboss_journal_not_done', notDone, async () => {
    const all = await instances.find({}).toArray()
    return all.reduce((sum, { done, last }) => sum + Math.max(0, last - done), 0)
  })
  const oldest = 'Age of the oldest entry whose duties are not done; 0 when there is none'
  registerGauge(registry, 'pitboss_journal_oldest_seconds', oldest, async () => {
    const ages = (await instances.find({}).toArray()).map(({ oldestAt }) =>
      oldestAt === null ? 0 : clock.now().getTime() - oldestAt.getTime(),
    )
    return Math.max(0, ...ages) / 1000
  })
  const unowned = 'Unfinished streams without a living owner that only the watch of every minute has found'
  registerGauge(registry, 'pitboss_journal_unowned_streams', unowned, unownedTotal)
}
