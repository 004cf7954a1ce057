import { Gauge, type Registry } from 'prom-client'
import type { RoundsStore } from './storage/rounds-store.ts'

export function registerMetrics(registry: Registry, rounds: Pick<RoundsStore, 'unfinished'>): void {
  new Gauge({
    name: 'pitboss_rounds_unfinished',
    help: 'Rounds that are not over',
    registers: [registry],
    async collect() {
      this.set((await rounds.unfinished()).count)
    },
  })
}
