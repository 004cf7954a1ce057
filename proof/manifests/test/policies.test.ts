import t from 'tap'
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
    [`${pod}.volumes`, [{ name: 'host', hostPath: { path: '/' } }], /folder of the node/],
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
