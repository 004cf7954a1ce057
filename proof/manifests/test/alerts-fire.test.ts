import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import t from 'tap'
import { stringify } from 'yaml'
import { findProgramOf } from '../src/find-tool.ts'
import { type Story, stories } from '../src/telemetry/alert-stories.ts'
import { groupsOf, namesIn, type Rule, rulesOf } from '../src/query-problems.ts'
import { type Manifest, renderOverlay } from '../src/render-folder.ts'
import { breakManifest } from './fixtures/break-manifest.ts'

const promtool = await findProgramOf('promtool')
const production = await renderOverlay('production')

/**
 * The failures of promtool's own test of the stories, by their names; null when all come true. There is a
 * file for each alert, with the shares that it asks for.
 */
async function refusal(
  folder: string,
  manifests: readonly Manifest[],
  told: readonly Story[],
): Promise<string | null> {
  const files = [...Map.groupBy(told, ({ alert, every }) => `${alert}-${every}`)].map(([name, together]) => {
    const [{ alert, every } = { alert: '', every: '1m' }] = together
    const rules = `${alert}-rules.yaml`
    writeFileSync(
      join(folder, rules),
      stringify({ groups: [{ name: alert, rules: behind(manifests, alert) }] }),
    )
    const tests = together.map(({ what, fires, series, at }) => ({
      name: `${what}: ${alert}`,
      interval: every,
      input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
      promql_expr_test: [
        {
          expr: `group(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
          eval_time: at,
          exp_samples: [{ labels: '{}', value: fires ? 1 : 0 }],
        },
      ],
    }))
    const file = join(folder, `${name}.yaml`)
    writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: every, tests }))
    return file
  })
  try {
    await runProgram(promtool, ['test', 'rules', ...files])
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** An alert, behind the shares that it asks for. */
function behind(manifests: readonly Manifest[], name: string): Rule[] {
  const rules = rulesOf(manifests)
  const found = rules.filter(({ alert }) => alert === name)
  const asked = new Set(found.flatMap(({ expr }) => namesIn(expr).metrics))
  return [...rules.filter(({ record }) => record !== undefined && asked.has(record)), ...found]
}

t.test('Prometheus takes the rules', async (t) => {
  const folder = t.testdir()
  writeFileSync(join(folder, 'rules.yaml'), stringify({ groups: groupsOf(production) }))
  const said = await runProgram(promtool, ['check', 'rules', join(folder, 'rules.yaml')])
  t.match(said, new RegExp(`SUCCESS: ${rulesOf(production).length} rules found`))
})

t.test('an alert fires when it should, and sleeps when it should', async (t) => {
  t.ok(stories.length > 30)
  t.equal(await refusal(t.testdir(), production, stories), null)
})

t.test('every alert has a story in which it fires, and one in which it sleeps', async (t) => {
  for (const { alert } of rulesOf(production)) {
    if (alert === undefined) continue
    const told = stories.filter((story) => story.alert === alert).map(({ fires }) => fires)
    t.ok(told.includes(true) && told.includes(false), alert)
  }
})

t.test('an alert that sleeps when it should fire is found', async (t) => {
  const story = stories.find(({ alert }) => alert === 'MovementUnresolved')
  const deaf = breakManifest(
    production,
    'PrometheusRule/pitboss',
    'spec.groups.0.rules.0.expr',
    'max by (namespace) (pitboss_movements_pending{older_than="5m"}) > 1',
  )
  t.ok(story)
  if (story !== undefined) t.match(await refusal(t.testdir(), deaf, [story]), /FAILED/)
})
