import { processMetrics, serviceMetrics, type ServiceMetric } from '../service-metrics.ts'
import { namesIn, type Rule } from '../query-problems.ts'
import { boards } from './boards.ts'
import { labelMeanings } from './label-meanings.ts'

const parts = /_(?:bucket|sum|count)$/

/** Who asks for a metric: names of alerts, and of boards. */
type Askers = { readonly alerts: Set<string>; readonly boards: Set<string> }

/**
 * docs/metrics.md, made of the code that registers the metrics, of the rules and of the boards.
 * @throws Error for a label whose values nobody has described
 */
export function renderMetricsPage(rules: readonly Rule[]): string {
  const askers = askersOf(rules)
  const services = serviceMetrics()
  const own = [...services.values()].flat()
  const labels = new Set(own.flatMap(({ labelNames }) => labelNames))
  return `${[
    '# Metrics',
    '',
    'Made by `npm run telemetry` from the code that registers them; `npm run check` fails when this page is old. Every process serves them at',
    '`/metrics` of its probe port (`PITBOSS_PROBE_PORT`), in the text format of Prometheus. All carry the label `service`.',
    '',
    ...[...services].flatMap(([service, metrics]) => [
      `## ${service}`,
      '',
      '| Metric | Type | Labels | Meaning | Alerts | Boards |',
      '| --- | --- | --- | --- | --- | --- |',
      ...metrics.map((metric) => rowOf(metric, askers.get(metric.name))),
      '',
    ]),
    '## Labels',
    '',
    'No value is an id, an address or a name that a client chooses, so the number of series depends on the code alone.',
    '',
    '| Label | Values |',
    '| --- | --- |',
    ...[...labels].toSorted().map((label) => `| \`${label}\` | ${meaningOf(label)} |`),
    '',
    '## Every process',
    '',
    "Node's own, as prom-client has them.",
    '',
    '| Metric | Type | Meaning | Alerts | Boards |',
    '| --- | --- | --- | --- | --- |',
    ...processMetrics().map((metric) => rowOf(metric, askers.get(metric.name), false)),
  ].join('\n')}\n`
}

function rowOf({ name, type, help, labelNames }: ServiceMetric, asked?: Askers, hasLabels = true): string {
  const labels = labelNames.map((label) => `\`${label}\``).join(', ')
  const alerts = [...(asked?.alerts ?? [])].map((alert) => `[${alert}](handbook/${alert}.md)`).join(', ')
  const shown = [...(asked?.boards ?? [])].join(', ')
  const cells = [`\`${name}\``, type, ...(hasLabels ? [labels] : []), help, alerts, shown]
  return `| ${cells.join(' | ')} |`
}

function meaningOf(label: string): string {
  const meaning = labelMeanings[label]
  if (meaning === undefined) throw new Error(`label-meanings.ts does not describe the label ${label}`)
  return meaning
}

/** Who asks for each metric, through recorded shares as well. */
function askersOf(rules: readonly Rule[]): ReadonlyMap<string, Askers> {
  const recorded = new Map(
    rules.flatMap(({ record, expr }) => (record === undefined ? [] : [[record, expr]])),
  )
  const askers = new Map<string, Askers>()
  const note = (expr: string, add: (asked: Askers) => void): void => {
    for (const metric of namesIn(expr).metrics) {
      const behind = recorded.get(metric)
      if (behind !== undefined) note(behind, add)
      const name = metric.replace(parts, '')
      const asked = askers.get(name) ?? { alerts: new Set(), boards: new Set() }
      askers.set(name, asked)
      add(asked)
    }
  }
  for (const { alert, expr } of rules) if (alert !== undefined) note(expr, ({ alerts }) => alerts.add(alert))
  for (const { name, rows } of boards) {
    const queries = rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries))
    for (const { expr } of queries) note(expr, (asked) => asked.boards.add(name))
  }
  return askers
}
