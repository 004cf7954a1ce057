import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { environmentProblems } from '../src/environment-problems.ts'
import { environmentOf } from '../src/environment-of.ts'
import { type Manifest, overlays, renderOverlay } from '../src/render-folder.ts'
import { configs, serviceNames, storedServices } from '../src/services.ts'
import { hasLabels, workloadsOf } from '../src/workloads.ts'
import { breakManifest } from './fixtures/break-manifest.ts'
import { sampleSecrets } from './fixtures/sample-secrets.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const container = 'spec.template.spec.containers.0'

/** The environment of each service's container. */
function environmentsOfServices(manifests: readonly Manifest[]) {
  return workloadsOf(manifests)
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ name, pod }) =>
      pod.containers.map((one) => ({ name, environment: environmentOf(one, manifests, sampleSecrets) })),
    )
}

for (const overlay of overlays) {
  t.test(`${overlay}: every process takes the environment that it gets`, async (t) => {
    const manifests = await renderOverlay(overlay)
    const ours = workloadsOf(manifests).filter(
      ({ labels }) => (labels['app.kubernetes.io/name'] ?? '') in configs,
    )
    t.strictSame(
      new Set(ours.map(({ labels }) => labels['app.kubernetes.io/name'])),
      new Set(Object.keys(configs)),
    )
    t.strictSame(environmentProblems(manifests, sampleSecrets), [])
  })
}

t.test('Node takes each command, and its file is there', async (t) => {
  const commands = new Set<string>()
  for (const overlay of overlays) {
    for (const { labels, pod } of workloadsOf(await renderOverlay(overlay))) {
      if (!((labels['app.kubernetes.io/name'] ?? '') in configs)) continue
      for (const { command, args } of pod.containers) commands.add([...command, ...args].join(' '))
    }
  }
  t.equal(commands.size, Object.keys(configs).length)
  for (const command of commands) {
    const [node, ...words] = command.split(' ')
    const at = words.findIndex((word) => !word.startsWith('--'))
    t.equal(node, 'node')
    t.ok(existsSync(`${root}${words[at]}`), command)
    // A flag that Node does not know ends it with an error.
    t.match(execFileSync(process.execPath, [...words.slice(0, at), '--version'], { encoding: 'utf8' }), /^v/)
  }
})

t.test('production sets what only a person can know', async (t) => {
  const manifests = await renderOverlay('production')
  for (const { name, environment } of environmentsOfServices(manifests)) {
    t.equal(environment.NODE_ENV, 'production', name)
    t.match(environment.NATS_URL, /^tls:/)
    if (name === 'gateway')
      t.not(environment.PITBOSS_TRUSTED_PROXIES, '', 'else all players share an address')
  }
})

t.test('both parts of an overlay speak to one NATS', async (t) => {
  for (const overlay of overlays) {
    const manifests = await renderOverlay(overlay)
    const urls = workloadsOf(manifests).flatMap(({ pod }) =>
      pod.containers.map((one) => environmentOf(one, manifests, sampleSecrets).NATS_URL ?? null),
    )
    t.equal(new Set(urls.filter((url) => url !== null)).size, 1, overlay)
  }
})

t.test(
  'a Job that builds indexes looks where its service does, and its pods are nobody else’s',
  async (t) => {
    const ranges = (policies: readonly Manifest[], name: RegExp) => [
      ...JSON.stringify(policies.filter(({ metadata }) => name.test(metadata.name))).matchAll(
        /"cidr":"([^"]+)"/g,
      ),
    ]
    for (const overlay of overlays) {
      const manifests = await renderOverlay(overlay)
      const workloads = new Map(workloadsOf(manifests).map((workload) => [workload.name, workload]))
      const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
      const [jobs, services] = [/^indexes-reach/, /^owners-reach/].map((name) => ranges(policies, name))
      t.strictSame(
        jobs?.map(([, range]) => range),
        services?.map(([, range]) => range),
        overlay,
      )
      for (const name of storedServices) {
        const [job, service] = [workloads.get(`${name}-indexes`), workloads.get(name)]
        const [jobs, serves] = [job, service].map((one) => one?.pod.containers[0])
        t.ok(jobs && serves, name)
        if (job === undefined || service === undefined || !jobs || !serves) continue
        t.equal(jobs.image, serves.image, 'of one build')
        const [environment, own] = [jobs, serves].map((one) => environmentOf(one, manifests, sampleSecrets))
        for (const variable of ['MONGODB_URL', 'PITBOSS_DATABASE_PREFIX', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS'])
          t.equal(environment?.[variable], own?.[variable], `${name}: ${variable}`)
        // Budgets and scalers of the service count what has its labels.
        t.notOk(hasLabels(job.labels, service.spec.selector?.matchLabels ?? {}), name)
      }
    }
  },
)

t.test('each service has a login, a master key and a NATS key of its own', async (t) => {
  const manifests = await renderOverlay('production')
  const environments = environmentsOfServices(manifests).map(({ environment }) => environment)
  for (const [name, count] of [
    ['NATS_NKEY_SEED', serviceNames.length],
    ['MONGODB_URL', storedServices.length],
    ['PITBOSS_MASTER_KEYS', storedServices.length],
  ] as const) {
    const values = environments.map((environment) => environment[name]).filter((value) => value !== undefined)
    t.equal(values.length, count, name)
    t.equal(new Set(values).size, count, `${name} differs everywhere`)
  }
})

t.test('an environment that a process refuses is found', async (t) => {
  const manifests = await renderOverlay('production')
  const found = (title: string, path: string, value: unknown) =>
    environmentProblems(breakManifest(manifests, title, path, value), sampleSecrets).join('; ')
  t.match(
    found('Deployment/auth', `${container}.env.1.name`, 'MONGO_URL'),
    /auth: MONGO_URL is read by nobody/,
  )
  t.match(found('Deployment/auth', `${container}.env.1.name`, 'MONGO_URL'), /auth: MONGODB_URL: is missing/)
  t.match(
    found('Deployment/auth', `${container}.envFrom.2.configMapRef.name`, 'none'),
    /auth: PITBOSS_BASE_URL: is missing/,
  )
  const settings = manifests.find(({ metadata }) => metadata.name.startsWith('common-settings'))?.metadata
    .name
  const common = `ConfigMap/${settings}`
  t.match(found(common, 'data.NATS_URL', 'nats://nats:4222'), /rounds: NATS_URL: is refused .* without TLS/)
  t.match(
    found(common, 'data.PITBOSS_PROBE_PORT', 'probes'),
    /webhooks: PITBOSS_PROBE_PORT: must be a number/,
  )
  t.match(found(common, 'data.PITBOSS_TIME_SCALE', '10'), /rounds: PITBOSS_TIME_SCALE: is refused/)
  const plain = {
    ...sampleSecrets,
    'auth-secrets': { ...sampleSecrets['auth-secrets'], MONGODB_URL: 'mongodb://h:1/' },
  }
  t.match(environmentProblems(manifests, plain).join('; '), /auth: MONGODB_URL: is refused/)
})
