import { Counter, type Registry } from 'prom-client'
import { within } from './within.ts'

/** Well within the time that Prometheus allows a scrape. */
const collectTimeoutMs = 3000
const leftOut = 'pitboss_metrics_left_out_total'

/**
 * Creates the text of `/metrics`. A metric that asks a database or a broker which does not answer is left out
 * and counted, so that the others tell of the trouble. Never rejects.
 */
export function createScrape(registry: Registry, timeoutMs = collectTimeoutMs): () => Promise<string> {
  const failures = new Counter({
    name: leftOut,
    help: 'Times that a metric was left out of a scrape because it could not be had',
    labelNames: ['metric'],
    registers: [registry],
  })
  async function read(metric: string): Promise<string[]> {
    const text = await within(registry.getSingleMetricAsString(metric), timeoutMs).catch(() => undefined)
    if (text !== undefined) return [text]
    failures.inc({ metric })
    return []
  }
  return async function scrape() {
    const names = registry.getMetricsAsArray().map(({ name }) => name)
    const texts = await Promise.all(names.filter((name) => name !== leftOut).map(read))
    return `${[...texts.flat(), await registry.getSingleMetricAsString(leftOut)].join('\n\n')}\n`
  }
}
