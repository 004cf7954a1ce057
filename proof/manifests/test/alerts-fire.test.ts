import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import t from 'tap'
import { stringify } from 'yaml'
import { findPromtool } from '../src/find-tool.ts'
import { rulesOf } from '../src/query-problems.ts'
import { type Manifest, renderOverlay } from '../src/render-folder.ts'
import { breakManifest } from './fixtures/break-manifest.ts'

const promtool = await findPromtool()
const production = await renderOverlay('production')

/** Series from minute 0 on, in promtool's notation, and the alerts that fire at a minute. */
type Story = {
  readonly what: string
  readonly series: Readonly<Record<string, string>>
  readonly at: string
  readonly alert: string
  readonly fires: boolean
}

const failed =
  'pitboss_http_request_seconds_count{namespace="pitboss",route="/v1/rounds",status="503",code="SERVICE_UNAVAILABLE"}'
const fine = 'pitboss_http_request_seconds_count{namespace="pitboss",route="/v1/rounds",status="200",code=""}'
const walletFailed =
  'pitboss_http_request_seconds_count{namespace="pitboss",route="/v1/rounds",status="502",code="WALLET_REJECTED"}'
const pending = 'pitboss_movements_pending{namespace="pitboss",older_than="5m"}'
const wait = (le: string) =>
  `pitboss_webhook_first_attempt_wait_seconds_bucket{namespace="pitboss",le="${le}"}`
const wallet = (judged: string) =>
  `pitboss_wallet_calls_total{namespace="pitboss",operation="debit",judged="${judged}"}`

const stories: readonly Story[] = [
  {
    what: 'one movement is unresolved for a day',
    series: { 'pitboss_movements_pending{namespace="pitboss",older_than="24h"}': '0x3 1x20' },
    at: '5m',
    alert: 'MovementUnresolvedForADay',
    fires: true,
  },
  {
    what: 'one movement is unresolved',
    series: { [pending]: '0x3 1x20' },
    at: '6m',
    alert: 'MovementUnresolved',
    fires: true,
  },
  {
    what: 'no movement is',
    series: { [pending]: '0x20' },
    at: '6m',
    alert: 'MovementUnresolved',
    fires: false,
  },
  {
    what: 'nobody counts them',
    series: { [fine]: '0x30' },
    at: '10m',
    alert: 'MovementsNotCounted',
    fires: true,
  },
  {
    what: 'somebody does',
    series: { [pending]: '0x30' },
    at: '10m',
    alert: 'MovementsNotCounted',
    fires: false,
  },
  {
    what: 'a tenth of requests fails',
    series: { [fine]: '0+90x120', [failed]: '0+10x120' },
    at: '70m',
    alert: 'RequestsFail',
    fires: true,
  },
  {
    what: 'one request in ten thousand fails',
    series: { [fine]: '0+9999x120', [failed]: '0+1x120' },
    at: '70m',
    alert: 'RequestsFail',
    fires: false,
  },
  {
    what: 'few requests come, and some fail',
    series: { [fine]: '0+0x120', [failed]: '0x60 1x5 2x5 3x60' },
    at: '75m',
    alert: 'RequestsFail',
    fires: false,
  },
  {
    what: 'a wallet refuses a tenth',
    series: { [fine]: '0+90x120', [walletFailed]: '0+10x120' },
    at: '70m',
    alert: 'RequestsFail',
    fires: false,
  },
  {
    what: 'first attempts wait for minutes',
    series: { [wait('30')]: '0+1x60', [wait('300')]: '0+10x60', [wait('+Inf')]: '0+10x60' },
    at: '40m',
    alert: 'FirstAttemptsLate',
    fires: true,
  },
  {
    what: 'first attempts go at once',
    series: { [wait('0.1')]: '0+10x60', [wait('30')]: '0+10x60', [wait('+Inf')]: '0+10x60' },
    at: '40m',
    alert: 'FirstAttemptsLate',
    fires: false,
  },
  {
    what: 'no wallet answers',
    series: { [wallet('unknown')]: '0+60x60', [wallet('success')]: '50x60' },
    at: '40m',
    alert: 'WalletsDoNotAnswer',
    fires: true,
  },
  {
    what: 'one of two wallets answers',
    series: { [wallet('unknown')]: '0+60x60', [wallet('success')]: '0+60x60' },
    at: '40m',
    alert: 'WalletsDoNotAnswer',
    fires: false,
  },
  {
    what: 'a call is forged',
    series: {
      'pitboss_calls_without_good_token_total{namespace="pitboss",service="rounds",reason="missing"}':
        '0x5 1x20',
    },
    at: '8m',
    alert: 'CallWithoutGoodToken',
    fires: true,
  },
  {
    what: 'an event loop lags',
    series: {
      'nodejs_eventloop_lag_p99_seconds{namespace="pitboss",pod="rounds-1",service="rounds"}': '0.9x60',
    },
    at: '20m',
    alert: 'EventLoopLate',
    fires: true,
  },
  {
    what: 'a pod is silent',
    series: { 'up{job="pitboss/pitboss",namespace="pitboss",pod="rounds-1"}': '1x5 0x30' },
    at: '15m',
    alert: 'PodDoesNotAnswer',
    fires: true,
  },
]

/** The failure of promtool's own test of one story; null when it comes true. */
async function refusal(folder: string, manifests: readonly Manifest[], story: Story): Promise<string | null> {
  const rules = manifests.find(({ kind }) => kind === 'PrometheusRule')
  writeFileSync(join(folder, 'rules.yaml'), stringify(rules?.spec))
  const expression = `count(ALERTS{alertname="${story.alert}",alertstate="firing"}) or vector(0)`
  const test = {
    rule_files: ['rules.yaml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(story.series).map(([series, values]) => ({ series, values })),
        promql_expr_test: [
          {
            expr: expression,
            eval_time: story.at,
            exp_samples: [{ labels: '{}', value: story.fires ? 1 : 0 }],
          },
        ],
      },
    ],
  }
  writeFileSync(join(folder, 'test.yaml'), stringify(test))
  try {
    await runProgram(promtool, ['test', 'rules', join(folder, 'test.yaml')])
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

t.test('Prometheus takes the rules', async (t) => {
  const folder = t.testdir()
  writeFileSync(
    join(folder, 'rules.yaml'),
    stringify(production.find(({ kind }) => kind === 'PrometheusRule')?.spec),
  )
  const said = await runProgram(promtool, ['check', 'rules', join(folder, 'rules.yaml')])
  t.match(said, new RegExp(`SUCCESS: ${rulesOf(production).length} rules found`))
})

t.test('an alert fires when it should, and sleeps when it should', async (t) => {
  for (const story of stories)
    t.equal(await refusal(t.testdir(), production, story), null, `${story.what}: ${story.alert}`)
})

t.test('every alert of a page has a story in which it fires', async (t) => {
  const told = new Set(stories.filter(({ fires }) => fires).map(({ alert }) => alert))
  const silent = rulesOf(production)
    .filter(({ labels }) => labels.severity === 'page')
    .flatMap(({ alert }) => alert ?? [])
    .filter((alert) => !told.has(alert))
  t.strictSame(silent, [])
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
  if (story !== undefined) t.match(await refusal(t.testdir(), deaf, story), /FAILED/)
})
