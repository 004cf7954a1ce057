import t from 'tap'
import { z } from 'zod'
import { evaluatePolicies } from '../src/evaluate-policies.ts'
import { overlays, renderFolder, renderOverlay } from '../src/render-folder.ts'
import { breakManifest } from './fixtures/break-manifest.ts'

const policies = await renderFolder('policies')
const container = 'spec.template.spec.containers.0'

for (const overlay of overlays) {
  t.test(`${overlay}: the cluster takes what we give it`, async (t) => {
    t.strictSame(evaluatePolicies(policies, await renderOverlay(overlay)), [])
  })
}

t.test('what a policy is there for is refused', async (t) => {
  const manifests = await renderOverlay('production')
  const said = (title: string, path: string, value: unknown) =>
    evaluatePolicies(policies, breakManifest(manifests, title, path, value)).map(
      ({ what, message }) => `${what}: ${message}`,
    )
  const pod = 'spec.template.spec'
  const cases: [string, unknown, RegExp][] = [
    [`${pod}.hostUsers`, undefined, /users of their own/],
    [`${pod}.hostUsers`, true, /users of their own/],
    [`${pod}.automountServiceAccountToken`, true, /no token of the API/],
    [`${pod}.enableServiceLinks`, undefined, /settings alone/],
    [`${container}.securityContext.readOnlyRootFilesystem`, false, /writes into an image/],
    [`${container}.securityContext`, undefined, /writes into an image/],
    [`${container}.resources.limits`, undefined, /memory is bounded/],
    [`${container}.resources.limits.memory`, undefined, /memory is bounded/],
    [`${container}.lifecycle.preStop.sleep.seconds`, 16, /15 seconds are left/],
    [`${pod}.volumes`, [{ name: 'host', hostPath: { path: '/' } }], /memory, settings, data/],
    [`${container}.image`, 'registry.example.com/pitboss/gateway:0.1.0', /by digest/],
    [`${container}.env.0.valueFrom`, undefined, /come from a Secret/],
    [`${container}.env.0.valueFrom.secretKeyRef.name`, 'auth-secrets', /its own Secret/],
    [`${container}.envFrom.0`, { secretRef: { name: 'gateway-secrets' } }, /key by key/],
    [`${container}.env.0.name`, 'PITBOSS_FAILPOINTS', /stay unset/],
    [`${container}.env.0.name`, 'NODE_OPTIONS', /stay unset/],
    [`${pod}.containers`, undefined, /cannot be evaluated/],
  ]
  for (const [path, value, message] of cases) {
    const refusals = said('Deployment/gateway', path, value)
    t.ok(refusals.length >= 1, path)
    t.match(refusals.join('; '), message)
    t.ok(
      refusals.every((text) => text.startsWith('Deployment/gateway')),
      'and nothing else',
    )
  }
})

t.test('a Job that builds indexes has the login of its service, and no other key of it', async (t) => {
  const manifests = await renderOverlay('production')
  const reference = `${container}.env.0.valueFrom.secretKeyRef`
  const cases: [string, unknown, RegExp][] = [
    [`${reference}.name`, 'auth-secrets', /its own Secret/],
    [`${reference}.key`, 'PITBOSS_MASTER_KEYS', /its own Secret/],
    [`${container}.env.0.name`, 'PITBOSS_MASTER_KEYS', /its own Secret/],
    [
      `${container}.image`,
      `registry.example.com/pitboss/auth@sha256:${'0'.repeat(64)}`,
      /the image of its name/,
    ],
    ['spec.template.spec.serviceAccountName', 'rounds', /account of its name/],
  ]
  for (const [path, value, message] of cases) {
    const broken = breakManifest(manifests, 'Job/rounds-indexes', path, value)
    const said = evaluatePolicies(policies, broken).map((refusal) => `${refusal.what}: ${refusal.message}`)
    t.match(said.join('; '), message, path)
    t.ok(
      said.every((text) => text.startsWith('Job/rounds-indexes')),
      'and nothing else',
    )
  }
})

type Change = (pod: Record<string, unknown>, container: Record<string, unknown>) => void

/** One breach for each rule about pods; the container is an init or ephemeral one, too. */
const breaches: readonly [RegExp, Change, where?: 'pod' | 'containers'][] = [
  [/users of their own/, (pod) => Reflect.deleteProperty(pod, 'hostUsers'), 'pod'],
  [/no token of the API/, (pod) => Object.assign(pod, { automountServiceAccountToken: true }), 'pod'],
  [/settings alone/, (pod) => Object.assign(pod, { enableServiceLinks: true }), 'pod'],
  [/writes into an image/, (_, one) => Reflect.deleteProperty(one, 'securityContext')],
  [/memory is bounded/, (_, one) => Reflect.deleteProperty(one, 'resources'), 'containers'],
  [/15 seconds are left/, (pod) => Object.assign(pod, { terminationGracePeriodSeconds: 1 }), 'pod'],
  [/memory, settings, data/, (pod) => volume(pod, { secret: { secretName: 'auth-secrets' } }), 'pod'],
  [/memory, settings, data/, (pod) => volume(pod, { projected: { sources: [] } }), 'pod'],
  [/memory, settings, data/, (pod) => volume(pod, { csi: { driver: 'x' } }), 'pod'],
  [/account of its name/, (pod) => Object.assign(pod, { serviceAccountName: 'auth' }), 'pod'],
  [/account of its name/, (pod) => Reflect.deleteProperty(pod, 'serviceAccountName'), 'pod'],
  [/by digest/, (_, one) => Object.assign(one, { image: 'registry.example.com/pitboss/gateway:1' })],
  [
    /from your registry/,
    (_, one) => Object.assign(one, { image: `evil.example/x@sha256:${'0'.repeat(64)}` }),
  ],
  [
    /image of its name/,
    (_, one) => Object.assign(one, { image: `registry.example.com/pitboss/auth@sha256:${'0'.repeat(64)}` }),
  ],
  [/come from a Secret/, (_, one) => setting(one, { name: 'MONGODB_URL', value: 'mongodb://db' })],
  [
    /its own Secret/,
    (_, one) => setting(one, { name: 'X', valueFrom: { secretKeyRef: { name: 'auth-secrets' } } }),
  ],
  [/key by key/, (_, one) => Object.assign(one, { envFrom: [{ secretRef: { name: 'gateway-secrets' } }] })],
  [/stay unset/, (_, one) => setting(one, { name: 'LD_PRELOAD', value: '/tmp/x.so' })],
  [/NODE_ENV/, (_, one) => setting(one, { name: 'NODE_ENV', value: 'development' })],
  [/authority of your own/, (_, one) => setting(one, { name: 'NODE_EXTRA_CA_CERTS', value: '/tmp/ca.crt' })],
]

function volume(pod: Record<string, unknown>, of: object): void {
  Object.assign(pod, { volumes: [{ name: 'v', ...of }] })
}

function setting(container: Record<string, unknown>, entry: object): void {
  Object.assign(container, { env: [entry] })
}

/** Every kind of the cluster that holds a pod, made of the template of a Deployment. */
const kinds: Readonly<Record<string, (template: Template) => object>> = {
  Pod: ({ metadata, spec }) => ({ apiVersion: 'v1', labels: metadata.labels, spec }),
  ReplicationController: (template) => ({ apiVersion: 'v1', spec: { template } }),
  Deployment: (template) => ({ apiVersion: 'apps/v1', spec: { template } }),
  StatefulSet: (template) => ({ apiVersion: 'apps/v1', spec: { template } }),
  DaemonSet: (template) => ({ apiVersion: 'apps/v1', spec: { template } }),
  ReplicaSet: (template) => ({ apiVersion: 'apps/v1', spec: { template } }),
  Job: (template) => ({ apiVersion: 'batch/v1', spec: { template } }),
  CronJob: (template) => ({ apiVersion: 'batch/v1', spec: { jobTemplate: { spec: { template } } } }),
}
const templateSchema = z.looseObject({
  metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
  spec: z.looseObject({ containers: z.array(z.looseObject({})).min(1) }),
})
type Template = z.infer<typeof templateSchema>

t.test(
  'every rule about pods holds for every kind that holds one, and for each of its containers',
  async (t) => {
    const manifests = await renderOverlay('production')
    const gateway = manifests.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'gateway',
    )
    const namespaces = manifests.filter(({ kind }) => kind === 'Namespace')
    const { template: given } = z.object({ template: templateSchema }).parse(gateway?.spec)
    const template = () => structuredClone(given)
    const messagesFor = (kind: string, given: Template) => {
      const { labels, ...made } = z
        .looseObject({ apiVersion: z.string(), labels: z.record(z.string(), z.string()).optional() })
        .parse(kinds[kind]?.(given))
      const metadata = {
        name: 'tried',
        namespace: gateway?.metadata.namespace ?? '',
        ...(labels && { labels }),
      }
      const manifest = { ...made, kind, metadata }
      return evaluatePolicies(policies, [...namespaces, manifest]).map(({ message }) => message)
    }
    const hit = new Set<string>()
    for (const kind of Object.keys(kinds)) {
      t.strictSame(messagesFor(kind, template()), [], `${kind}: as we give it`)
      for (const [message, change, where] of breaches) {
        for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
          if (
            (where === 'pod' && list !== 'containers') ||
            (where === 'containers' && list === 'ephemeralContainers')
          )
            continue
          const broken = template()
          const [first = {}] = structuredClone(broken.spec.containers)
          const container = list === 'containers' ? (broken.spec.containers[0] ?? {}) : first
          if (list !== 'containers') Object.assign(broken.spec, { [list]: [container] })
          change(broken.spec, container)
          const said = messagesFor(kind, broken)
          for (const one of said) hit.add(one)
          t.ok(
            said.some((one) => message.test(one)),
            `${kind}, ${list}: ${message}`,
          )
        }
      }
    }
    const rules = z.object({ spec: z.object({ validations: z.array(z.object({ message: z.string() })) }) })
    const all = policies
      .filter(({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && !/settings/.test(metadata.name))
      .flatMap((policy) => rules.parse(policy).spec.validations.map(({ message }) => message))
    t.strictSame([...hit].toSorted(), all.toSorted(), 'no rule is untried')
  },
)

t.test('every policy about pods is asked for the containers that are put into a running pod', async (t) => {
  const policy = z.object({
    spec: z.object({
      matchConstraints: z.object({
        resourceRules: z.array(z.object({ operations: z.array(z.string()), resources: z.array(z.string()) })),
      }),
    }),
  })
  const about = policies.filter(
    ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && !/settings/.test(metadata.name),
  )
  t.equal(about.length, 3)
  for (const one of about) {
    const { resourceRules } = policy.parse(one).spec.matchConstraints
    const rule = resourceRules.find(({ resources }) => resources.includes('pods/ephemeralcontainers'))
    t.match(rule, { operations: ['CREATE', 'UPDATE'] }, one.metadata.name)
  }
})

t.test('settings that exist for tests, and keys, come in by no ConfigMap', async (t) => {
  const manifests = await renderOverlay('production')
  const said = (data: Record<string, string>) => {
    const namespace = manifests.find(({ kind }) => kind === 'Deployment')?.metadata.namespace ?? ''
    const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace }, data }
    return evaluatePolicies(policies, [...manifests.filter(({ kind }) => kind === 'Namespace'), settings])
  }
  t.strictSame(said({ NODE_ENV: 'production', 'ca.crt': 'x' }), [])
  t.match(said({ NODE_ENV: 'development' }), [{ message: /NODE_ENV/ }])
  t.match(said({ PITBOSS_ALLOW_LOOPBACK_WALLETS: 'yes' }), [{ message: /stay unset/ }])
  t.match(said({ NATS_NKEY_SEED: 'SU…' }), [{ message: /come from a Secret/ }])
})

t.test('a policy counts in namespaces of its binding alone', async (t) => {
  const manifests = await renderOverlay('production')
  const broken = breakManifest(manifests, 'Deployment/gateway', 'spec.template.spec.hostUsers', true)
  t.equal(evaluatePolicies(policies, broken).length, 1)
  const elsewhere = broken.map((one) =>
    one.kind === 'Namespace' ? { ...one, metadata: { name: 'pitboss' } } : one,
  )
  t.strictSame(evaluatePolicies(policies, elsewhere), [])
  const unbound = policies.filter(({ kind }) => kind !== 'ValidatingAdmissionPolicyBinding')
  t.strictSame(evaluatePolicies(unbound, broken), [])
})
