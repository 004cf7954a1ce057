import t from 'tap'
import { knownMetrics } from '../src/known-metrics.ts'
import { queryProblems, rulesOf } from '../src/query-problems.ts'
import { renderOverlay } from '../src/render-folder.ts'
import { readSlo } from '../src/telemetry/slo.ts'
import { workloadsOf } from '../src/workloads.ts'
import { breakManifest } from './fixtures/break-manifest.ts'

const production = await renderOverlay('production')
const known = knownMetrics()

t.test('every rule asks for metrics and labels that the services have', async (t) => {
  t.ok(rulesOf(production).length >= 12)
  t.strictSame(queryProblems(production, known), [])
})

t.test('a rule that nothing can answer is found', async (t) => {
  const found = (expr: string) =>
    queryProblems(
      breakManifest(production, 'PrometheusRule/pitboss', 'spec.groups.0.rules.0.expr', expr),
      known,
    )
  t.strictSame(found('max(pitboss_movements_waiting) > 0'), [
    'MovementUnresolved asks for pitboss_movements_waiting, which nobody counts',
  ])
  t.strictSame(found('max(pitboss_movements_pending{age="5m"}) > 0'), [
    'MovementUnresolved asks for the label age, which no metric of it has',
  ])
  t.strictSame(found('sum by (le) (pitboss_http_request_seconds_count)'), [
    'MovementUnresolved asks for the label le, which no metric of it has',
  ])
  t.match(found('max(pitboss_movements_pending > 0'), [/^MovementUnresolved is no PromQL/])
})

t.test('every alert says how much it matters and what it is about', async (t) => {
  for (const { alert, labels, annotations } of rulesOf(production)) {
    if (alert === undefined) continue
    t.match(labels.severity, /^(page|ticket)$/, alert)
    t.match(labels.about, /^(money|security|door|deliveries|wallets|processes)$/, alert)
    t.ok(annotations.summary, alert)
  }
})

t.test('an objective burns its budget by the factors of the workbook', async (t) => {
  const [page, ticket] = rulesOf(production).filter(({ labels }) => labels.slo === 'requests')
  t.match(page?.expr, /bad_ratio_1h > 0\.0144 and pitboss:requests:bad_ratio_5m > 0\.0144/)
  t.match(page?.expr, /bad_ratio_6h > 0\.006 and pitboss:requests:bad_ratio_30m > 0\.006/)
  t.match(ticket?.expr, /bad_ratio_3d > 0\.001 and pitboss:requests:bad_ratio_6h > 0\.001/)
  t.throws(() => readSlo('objectives: []'), 'a file that promises nothing is refused')
})

t.test('money wakes people by one movement, whatever the traffic', async (t) => {
  const rule = rulesOf(production).find(({ alert }) => alert === 'MovementUnresolved')
  t.match(rule, { expr: /pitboss_movements_pending\{older_than="5m"\}\) > 0/, labels: { severity: 'page' } })
})

t.test('every pod of ours is scraped at a port that it has', async (t) => {
  const monitor = production.find(({ kind }) => kind === 'PodMonitor')
  t.match(monitor, { spec: { podMetricsEndpoints: [{ port: 'probes', path: '/metrics' }] } })
  for (const { title, labels, pod, kind } of workloadsOf(production)) {
    if (kind !== 'Deployment') continue
    t.match(JSON.stringify(monitor), `"${labels['app.kubernetes.io/name']}"`, title)
    t.ok(
      pod.containers[0]?.ports.some(({ name }) => name === 'probes'),
      title,
    )
  }
})
