import { processMetrics, serviceMetrics } from './service-metrics.ts'

/** Names of labels that scraping adds: PodMonitor's, and the one that `run-service.ts` gives all metrics. */
const scraped = ['job', 'namespace', 'pod', 'service']

/** Every metric of a service, by the names under which Prometheus keeps its series, with its labels. */
export function knownMetrics(): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map<string, Set<string>>([['up', new Set(scraped)]])
  for (const { name, type, labelNames } of [...serviceMetrics().values(), processMetrics()].flat()) {
    const labels = new Set([...labelNames, ...scraped])
    known.set(name, labels)
    if (type !== 'histogram') continue
    for (const part of ['_sum', '_count']) known.set(`${name}${part}`, labels)
    known.set(`${name}_bucket`, new Set([...labels, 'le']))
  }
  return known
}
