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
    external: z.array(
      z.looseObject({
        seriesQuery: z.string(),
        name: z.object({ as: z.string() }),
        metricsQuery: z.string(),
      }),
    ),
  }),
})

t.test(
  'with the component two services grow by due lag, under the names that the adapter serves',
  async (t) => {
    const manifests = await renderFolder('../../proof/manifests/test/fixtures/with-due-lag')
    const asked = manifests
      .filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
      .flatMap((manifest) =>
        scaler
          .parse(manifest)
          .spec.metrics.flatMap(({ external }) =>
            external === undefined ? [] : [[manifest.metadata.name, external.metric.name]],
          ),
      )
    const text = readFileSync(`${manifestsFolder}/components/due-lag/adapter.example.yaml`, 'utf8')
    const rules = adapterValues.parse(parse(text)).rules.external
    t.strictSame(asked, [
      ['wallet-bridge', 'pitboss_movement_due_lag_seconds_worst'],
      ['webhooks', 'pitboss_webhook_due_lag_seconds_worst'],
    ])
    t.strictSame(new Set(rules.map(({ name }) => name.as)), new Set(asked.map(([, metric]) => metric)))
    const known = knownMetrics()
    for (const { seriesQuery, metricsQuery } of rules) {
      const expr = metricsQuery.replace('<<.LabelMatchers>>', 'namespace="pitboss"')
      for (const query of [seriesQuery, expr])
        t.strictSame(problemsOf({ title: query, expr: query, known, recorded: new Set() }), [])
    }
  },
)
