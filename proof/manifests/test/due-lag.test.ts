import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { z } from 'zod'
import { knownMetrics } from '../src/known-metrics.ts'
import { problemsOf } from '../src/query-problems.ts'
import { manifestsFolder, renderFolder } from '../src/render-folder.ts'

const scaler = z.looseObject({
  spec: z.looseObject({
    metrics: z.array(
      z.looseObject({
        type: z.string(),
        external: z.looseObject({ metric: z.object({ name: z.string() }) }).optional(),
      }),
    ),
  }),
})
const adapterValues = z.object({
  rules: z.object({
    external: z.tuple([
      z.looseObject({
        seriesQuery: z.string(),
        name: z.object({ as: z.string() }),
        metricsQuery: z.string(),
      }),
    ]),
  }),
})

t.test(
  'with the component webhooks alone grows by due lag, under the name that the adapter serves',
  async (t) => {
    const manifests = await renderFolder('../../proof/manifests/test/fixtures/with-due-lag')
    const asked = manifests
      .filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
      .map((manifest) => {
        const { metrics } = scaler.parse(manifest).spec
        return [manifest.metadata.name, ...metrics.map(({ type, external }) => external?.metric.name ?? type)]
      })
    const text = readFileSync(`${manifestsFolder}/components/due-lag/adapter.example.yaml`, 'utf8')
    const [rule] = adapterValues.parse(parse(text)).rules.external
    for (const [name, ...metrics] of asked)
      t.strictSame(metrics, name === 'webhooks' ? ['Resource', rule.name.as] : ['Resource'], String(name))
    t.equal(asked.filter(([name]) => name === 'webhooks').length, 1)
    const expr = rule.metricsQuery.replace('<<.LabelMatchers>>', 'namespace="pitboss"')
    const known = knownMetrics()
    for (const query of [rule.seriesQuery, expr])
      t.strictSame(problemsOf({ title: query, expr: query, known, recorded: new Set() }), [])
  },
)
