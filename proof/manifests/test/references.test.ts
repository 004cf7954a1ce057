import t from 'tap'
import { danglingReferences } from '../src/dangling-references.ts'
import { overlays, renderFolder, renderOverlay } from '../src/render-folder.ts'
import { breakManifest } from './fixtures/break-manifest.ts'
import { given } from './fixtures/sample-secrets.ts'

for (const overlay of overlays) {
  t.test(`${overlay}: every name leads somewhere`, async (t) => {
    const manifests = await renderOverlay(overlay)
    t.ok(manifests.length > 30)
    t.strictSame(danglingReferences(manifests, given), [])
  })
}

t.test('the Ingress of the component leads to the gateway', async (t) => {
  const manifests = await renderFolder('../../proof/manifests/test/fixtures/with-ingress')
  t.match(
    manifests.find(({ kind }) => kind === 'Ingress'),
    {
      spec: { rules: [{ host: 'play.example.com' }], tls: [{ hosts: ['play.example.com'] }] },
    },
  )
  t.strictSame(danglingReferences(manifests, given), [])
})

t.test('a name that leads nowhere is found', async (t) => {
  const manifests = await renderOverlay('production')
  const found = (title: string, path: string, value: unknown) =>
    danglingReferences(breakManifest(manifests, title, path, value), given).join('; ')
  const container = 'spec.template.spec.containers.0'
  t.match(
    found('Deployment/auth', `${container}.env.1.valueFrom.secretKeyRef.key`, 'MONGO_URL'),
    /takes MONGODB_URL from nothing/,
  )
  t.match(
    found('Deployment/auth', `${container}.envFrom.0.configMapRef.name`, 'common'),
    /environment from nothing: ConfigMap\/common/,
  )
  t.match(
    found('Deployment/rounds', `${container}.readinessProbe.httpGet.port`, 'probe'),
    /a probe at no port: probe/,
  )
  t.match(
    found('Deployment/rounds', 'spec.template.spec.serviceAccountName', 'round'),
    /account that is not there: round/,
  )
  t.match(
    found('Deployment/rounds', 'spec.selector.matchLabels', { app: 'rounds' }),
    /does not select its own pods/,
  )
  t.match(
    found('Deployment/rounds', `${container}.volumeMounts`, [{ name: 'x', mountPath: '/x' }]),
    /volume that is not there: x/,
  )
  t.match(
    found('Deployment/rounds', 'spec.template.spec.volumes', [{ name: 'x', configMap: { name: 'y' } }]),
    /mounts no ConfigMap at x: y/,
  )
  t.match(found('Service/gateway', 'spec.selector', { app: 'gateway' }), /Service\/gateway selects nothing/)
  t.match(found('Service/gateway', 'spec.ports.0.targetPort', 'https'), /leads to no port: https/)
  t.match(
    found('PodDisruptionBudget/webhooks', 'spec.selector.matchLabels', { app: 'x' }),
    /webhooks selects nothing/,
  )
  t.match(
    found('HorizontalPodAutoscaler/webhooks', 'spec.scaleTargetRef.name', 'hooks'),
    /scales nothing: Deployment\/hooks/,
  )
  t.match(
    found('HTTPRoute/gateway', 'spec.rules.0.backendRefs.0.port', 8080),
    /leads to no service: gateway:8080/,
  )
  t.match(
    danglingReferences(
      [...manifests, ...breakManifest(manifests, 'Service/gateway', 'spec.type', 'NodePort')],
      given,
    ).join('; '),
    /Service\/gateway is there twice/,
  )
  t.match(danglingReferences(manifests, {}).join('; '), /^$/, 'production has its secrets from a vault')
  t.match(
    danglingReferences(await renderOverlay('dev'), {}).join('; '),
    /Deployment\/auth takes NATS_NKEY_SEED from nothing/,
  )
})

t.test('a folder that is broken does not render', async (t) => {
  await t.rejects(renderFolder('overlays/unknown'), /overlays\/unknown/)
})
