import { readFileSync } from 'node:fs'
import { costs, ground, sizedFor } from '@pitboss/bench/capacity/measured-costs'
import { planCapacity } from '@pitboss/bench/capacity/plan-capacity'
import t from 'tap'
import { z } from 'zod'
import { arithmeticProblems, leastRequests } from '../src/arithmetic-problems.ts'
import { quantity } from '../src/quantity.ts'
import { manifestsFolder, renderOverlay } from '../src/render-folder.ts'
import { workloadsOf } from '../src/workloads.ts'
import { breakManifest } from './fixtures/break-manifest.ts'

/** Cores and memory of a small node, less what the system keeps. */
const node = { cores: 3.9, bytes: 14 * 2 ** 30 }
const nodes = 3

const production = await renderOverlay('production')
const staging = await renderOverlay('staging')

t.test('the numbers of each overlay go together', async (t) => {
  t.strictSame(arithmeticProblems(production, 3), [])
  t.strictSame(arithmeticProblems(staging, 2), [])
  t.strictSame(arithmeticProblems(await renderOverlay('dev'), 1), [])
})

t.test('production fits on three small nodes, also when one is away', async (t) => {
  const { cores, bytes } = leastRequests(production)
  t.ok(cores > 5, `${cores} cores`)
  t.ok(cores < (nodes - 1) * node.cores, `${cores} cores`)
  t.ok(bytes < (nodes - 1) * node.bytes, `${bytes / 2 ** 30} GiB`)
})

const settingsSchema = z.object({ data: z.record(z.string(), z.string()) })
const scalerSchema = z.object({
  spec: z.object({
    minReplicas: z.number(),
    maxReplicas: z.number(),
    metrics: z.array(
      z.object({ resource: z.object({ target: z.object({ averageUtilization: z.number() }) }) }),
    ),
  }),
})

t.test('the plan of capacity is for what production has', async (t) => {
  const settings = production.find(({ metadata }) => metadata.name.startsWith('ops-settings'))
  const { data } = settingsSchema.parse(settings)
  t.equal(Number(data.PITBOSS_EVENTS_MAX_MB) * 2 ** 20, ground.streamBytesMax)
  t.equal(Number(data.PITBOSS_EVENTS_HOURS), ground.streamHours)
  for (const [name, cores] of Object.entries(ground.coresAsked)) {
    const scaler = production.find(
      ({ kind, metadata }) => kind === 'HorizontalPodAutoscaler' && metadata.name === name,
    )
    const { minReplicas, maxReplicas, metrics } = scalerSchema.parse(scaler).spec
    t.equal(minReplicas, ground.replicasMin, name)
    t.equal(maxReplicas, ground.replicasMax[name], name)
    t.equal(metrics[0]?.resource.target.averageUtilization, ground.shareOfCores * 100, name)
    const workload = workloadsOf(production).find((one) => one.kind === 'Deployment' && one.name === name)
    t.equal(quantity(workload?.pod.containers[0]?.resources.requests.cpu ?? ''), cores, name)
  }
})

t.test('at the rate that production is sized for its stream never pages, and play never stops', async (t) => {
  const rules = readFileSync(`${manifestsFolder}/components/monitoring/rules.yaml`, 'utf8')
  const pages = Number(/pitboss_stream_used_ratio\) > ([\d.]+)/.exec(rules)?.[1])
  const { streamBytes, limits } = planCapacity(costs, ground, { ...sizedFor, readsPerRound: 2 })
  const share = streamBytes / ground.streamBytesMax
  t.ok(share > 0.5 && share < pages, `${share} of what it may hold, and ${pages} pages`)
  t.ok(
    limits.every(({ roundsPerSecond }) => roundsPerSecond > sizedFor.roundsPerSecond),
    'nor does anything else end',
  )
})

t.test('numbers that do not go together are found', async (t) => {
  const found = (title: string, path: string, value: unknown) =>
    arithmeticProblems(breakManifest(production, title, path, value), 3).join('; ')
  const container = 'spec.template.spec.containers.0'
  const cases: [string, string, unknown, RegExp][] = [
    [
      'Deployment/gateway',
      'spec.template.spec.terminationGracePeriodSeconds',
      20,
      /killed after 20 s and may need 25 s/,
    ],
    [
      'Deployment/auth',
      'spec.template.spec.terminationGracePeriodSeconds',
      10,
      /killed after 10 s and may need 15 s/,
    ],
    [
      'Deployment/gateway',
      `${container}.lifecycle.preStop.sleep.seconds`,
      30,
      /killed after 30 s and may need 45 s/,
    ],
    ['Deployment/gateway', `${container}.lifecycle`, undefined, /before load balancers have heard/],
    ['Deployment/rounds', 'spec.replicas', 3, /which its scaler decides/],
    ['HorizontalPodAutoscaler/rounds', 'spec.minReplicas', 2, /may have 2 pods, of at least 3/],
    ['HorizontalPodAutoscaler/rounds', 'spec.maxReplicas', 3, /cannot grow/],
    [
      'HorizontalPodAutoscaler/rounds',
      'spec.scaleTargetRef.name',
      'auth',
      /auth is scaled by 2; Deployment\/rounds is scaled by 0/,
    ],
    ['PodDisruptionBudget/rounds', 'spec.maxUnavailable', 3, /emptied by a drain/],
    [
      'PodDisruptionBudget/rounds',
      'spec.selector.matchLabels',
      { other: 'one' },
      /rounds has 0 disruption budgets/,
    ],
    ['Deployment/rounds', 'spec.strategy.rollingUpdate.maxUnavailable', 1, /loses a pod/],
    ['Deployment/rounds', `${container}.livenessProbe.httpGet.path`, '/readyz', /a restart does not repair/],
    ['Deployment/rounds', `${container}.livenessProbe.failureThreshold`, 3, /only busy/],
    ['Deployment/rounds', `${container}.startupProbe.failureThreshold`, 3, /while it starts/],
    [
      'Deployment/rounds',
      `${container}.readinessProbe.httpGet.path`,
      '/healthz',
      /ready before it can serve/,
    ],
    [
      'Deployment/rounds',
      `${container}.readinessProbe.timeoutSeconds`,
      1,
      /shorter time than the answer takes/,
    ],
    ['Deployment/rounds', `${container}.startupProbe`, undefined, /lacks a probe/],
    ['Deployment/rounds', `${container}.resources.limits.memory`, '300Mi', /less memory than 1.5 times/],
    ['Deployment/rounds', `${container}.resources.requests.memory`, '1Gi', /more memory than it may use/],
  ]
  for (const [title, path, value, message] of cases) t.match(found(title, path, value), message)
})

t.test('NATS keeps its quorum, its disk and its clients', async (t) => {
  const nats = workloadsOf(staging).find(({ name }) => name === 'nats')
  const configuration = readFileSync(`${manifestsFolder}/nats/nats.conf`, 'utf8')
  const number = (name: string) => Number(new RegExp(`${name}: "?([0-9]+)`).exec(configuration)?.[1])
  const job = workloadsOf(staging).find(({ name }) => name === 'topology')
  const args = job?.pod.containers[0]?.args ?? []
  t.equal(nats?.spec.replicas, 3)
  t.equal(args[args.indexOf('--replicas') + 1], '3', 'each stream is on all three')
  for (let index = 0; index < 3; index++) t.match(configuration, `nats://nats-${index}.nats-nodes:6222`)
  const stored = Number(/max_file_store: ([0-9]+)GB/.exec(configuration)?.[1]) * 1e9
  const disk = quantity(nats?.spec.volumeClaimTemplates[0]?.spec.resources.requests.storage ?? '')
  t.ok(stored < disk * 0.9, `${stored} of ${disk}`)
  const leavesS = number('lame_duck_grace_period') + number('lame_duck_duration')
  t.ok(leavesS + 10 < (nats?.pod.terminationGracePeriodSeconds ?? 0), `${leavesS} s`)
  t.match(configuration, /sync_interval: always/)
})
