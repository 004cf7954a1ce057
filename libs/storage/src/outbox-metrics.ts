import type { Clock } from '@pitboss/runtime/clock'
import { Gauge, type Registry } from 'prom-client'
import { outboxIndex } from './outbox.ts'

/** The part of a collection that is read. */
type Waiting = {
  findOne(
    filter: { outboxAt: { $gt: Date } },
    options: { sort: { outboxAt: 1 }; hint: string; projection: { outboxAt: 1 } },
  ): Promise<{ outboxAt: Date | null } | null>
}

/** Creates `pitboss_outbox_oldest_seconds`, read by index when Prometheus asks; the same in every replica. */
export function createOutboxMetrics({
  registry,
  collections,
  clock,
}: {
  registry: Registry
  collections: Readonly<Record<string, Waiting>>
  clock: Clock
}): void {
  new Gauge({
    name: 'pitboss_outbox_oldest_seconds',
    help: 'Age of the oldest event that webhooks has not recorded; 0 when none waits',
    labelNames: ['collection'],
    registers: [registry],
    async collect() {
      for (const [collection, waiting] of Object.entries(collections)) {
        const oldest = await waiting.findOne(
          { outboxAt: { $gt: new Date(0) } },
          { sort: { outboxAt: 1 }, hint: outboxIndex.name, projection: { outboxAt: 1 } },
        )
        const at = oldest?.outboxAt ?? null
        const ageMs = at === null ? 0 : Math.max(0, clock.now().getTime() - at.getTime())
        this.set({ collection }, ageMs / 1000)
      }
    },
  })
}
