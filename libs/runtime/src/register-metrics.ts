import { Counter, Gauge, type Registry } from 'prom-client'

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

/** Registers a counter, by a label if it has one. @param values of the label that are shown from 0 on */
export function registerCounter<Label extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  label?: Label,
  values: readonly string[] = [],
): Counter<Label> {
  const labelNames = label === undefined ? [] : [label]
  const counter = new Counter<string>({ name, help, labelNames, registers: [registry] })
  for (const value of values) counter.inc({ [String(label)]: value }, 0)
  return counter
}
