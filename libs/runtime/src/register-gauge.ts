import { Gauge, type Registry } from 'prom-client'

/** Registers a gauge without labels whose value is read when it is scraped. */
export function registerGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
): void {
  new Gauge({
    ...{ name, help, registers: [registry] },
    async collect() {
      this.set(await read())
    },
  })
}
