import t from 'tap'
import { knownMetrics } from '../src/known-metrics.ts'
import { problemsOf, recordedBy } from '../src/query-problems.ts'
import { renderFolder } from '../src/render-folder.ts'
import { boards, panels } from '../src/telemetry/boards.ts'
import { componentRules } from '../src/telemetry/telemetry-files.ts'
import { renderBoard } from '../src/telemetry/render-board.ts'

const known = knownMetrics()
const recorded = recordedBy(componentRules())
const problems = (title: string, expr: string) => problemsOf({ title, expr, known, recorded })

t.test('every query of a board asks for metrics and labels that the services have', async (t) => {
  for (const { title, queries } of panels)
    for (const { expr } of queries) t.strictSame(problems(title, expr), [], title)
})

t.test('a query that nothing can answer is found', async (t) => {
  t.strictSame(problems('x', 'sum(pitboss_movements_waiting)'), [
    'x asks for pitboss_movements_waiting, which nobody counts',
  ])
  t.strictSame(problems('x', 'sum by (operator) (pitboss_movements_pending)'), [
    'x asks for the label operator, which no metric of it has',
  ])
  t.match(problems('x', 'pitboss:nothing:bad_ratio_5m'), [/nobody counts/])
})

t.test('a board shows each panel once, and panels do not lie on one another', async (t) => {
  for (const board of boards) {
    const { panels: drawn, uid } = JSON.parse(renderBoard(board))
    t.equal(uid, `pitboss-${board.name}`)
    const taken = new Set<string>()
    for (const { gridPos, title } of drawn)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          const place = `${x},${y}`
          t.notOk(x >= 24 || taken.has(place), `${title} at ${place}`)
          taken.add(place)
        }
  }
})

t.test('every own metric of the services is on a board', async (t) => {
  const asked = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)).join('\n')
  const rules = componentRules()
    .map(({ expr }) => expr)
    .join('\n')
  for (const name of known.keys())
    if (name.startsWith('pitboss_') && !/_(?:sum|count|bucket)$/.test(name))
      t.ok(asked.includes(name) || rules.includes(name), name)
})

t.test('the component brings the boards to Grafana', async (t) => {
  const rendered = await renderFolder('overlays/production')
  const found = rendered.find(({ metadata }) => metadata.name === 'grafana-boards')
  t.match(found, { kind: 'ConfigMap', metadata: { labels: { grafana_dashboard: '1' } } })
  for (const board of boards) t.match(found, { data: { [`${board.name}.json`]: renderBoard(board) } })
})
