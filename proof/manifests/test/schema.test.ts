import t from 'tap'
import { checkSchema } from '../src/check-schema.ts'
import { checkTypes } from '../src/check-types.ts'
import { type Manifest, overlays, renderFolder, renderOverlay } from '../src/render-folder.ts'
import { breakManifest } from './fixtures/break-manifest.ts'

const rendered = new Map<string, readonly Manifest[]>()
for (const overlay of overlays) rendered.set(overlay, await renderOverlay(overlay))
rendered.set('policies', await renderFolder('policies'))
rendered.set('with Ingress', await renderFolder('../../proof/manifests/test/fixtures/with-ingress'))
rendered.set('with due lag', await renderFolder('../../proof/manifests/test/fixtures/with-due-lag'))
const production = rendered.get('production') ?? []
const container = 'spec.template.spec.containers.0'

t.test('every manifest keeps the schema of its resource', async (t) => {
  for (const [name, manifests] of rendered) t.strictSame(await checkSchema(manifests), [], name)
})

t.test('a manifest that breaks its schema is found', async (t) => {
  const found = async (title: string, path: string, value: unknown) =>
    (await checkSchema(breakManifest(production, title, path, value))).join('; ')
  t.match(
    await found('Deployment/auth', 'spec.minReadySeconds', 'five'),
    /Deployment\/auth: .*minReadySeconds/,
  )
  t.match(await found('Deployment/auth', `${container}.lifecycle`, { preStop: { sleep: 5 } }), /sleep/)
  t.match(
    await found('PodDisruptionBudget/auth', 'spec.selector', 'auth'),
    /PodDisruptionBudget\/auth: .*selector/,
  )
  t.match(await found('HTTPRoute/gateway', 'spec.rules.0.backendRefs.0.port', 0), /port/)
  t.match(await found('PrometheusRule/pitboss', 'spec.groups.0.name', undefined), /name/)
})

t.test('every field is one that its resource has', async (t) => {
  const all = [...rendered.values()].flat()
  t.strictSame(await checkTypes(all, t.testdir()), [])
})

t.test('a field that no resource has is found', async (t) => {
  const broken = [
    [
      'Deployment/auth',
      `${container}.livenesProbe`,
      { httpGet: { path: '/healthz', port: 'probes' } },
      'livenesProbe',
    ],
    ['Deployment/rounds', 'spec.template.spec.hostUser', false, 'hostUser'],
    ['NetworkPolicy/nobody-speaks', 'spec.policyType', ['Ingress'], 'policyType'],
    ['HorizontalPodAutoscaler/auth', 'spec.minReplica', 3, 'minReplica'],
  ] as const
  const one = broken.reduce(
    (manifests, [title, path, value]) => breakManifest(manifests, title, path, value),
    production,
  )
  const messages = (await checkTypes(one, t.testdir())).join('\n')
  for (const [, , , word] of broken) t.match(messages, new RegExp(`"${word}"' does not exist`))
})
