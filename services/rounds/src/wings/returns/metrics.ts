import { Gauge, type Registry } from 'prom-client'
import type { ReturnsStore } from './storage/returns-store.ts'

export function registerAlarms(registry: Registry, returns: Pick<ReturnsStore, 'countOpen'>): void {
  new Gauge({
    name: 'pitboss_return_alarms',
    help: 'Alarms of the watch of returns to players that nobody has lifted',
    registers: [registry],
    async collect() {
      this.set(await returns.countOpen())
    },
  })
}
