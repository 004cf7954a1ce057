import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

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

type Labels<Label extends string> = Label | readonly Label[]

/** Registers a counter, by labels if it has any. @param values of its only label, shown from 0 on */
export function registerCounter<Label extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  labels: Labels<Label> = [],
  values: readonly string[] = [],
): Counter<Label> {
  const labelNames = [labels].flat()
  const counter = new Counter<string>({ name, help, labelNames, registers: [registry] })
  for (const value of values) counter.inc({ [String(labelNames[0])]: value }, 0)
  return counter
}

/** Registers a histogram, by labels if it has any. @param buckets their upper limits */
export function registerHistogram<Label extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  buckets: number[],
  labels: Labels<Label> = [],
): Histogram<Label> {
  return new Histogram<string>({ name, help, labelNames: [labels].flat(), buckets, registers: [registry] })
}
