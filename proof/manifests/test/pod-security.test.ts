import t from 'tap'
import { podSecurityProblems } from '../src/pod-security-problems.ts'
import { overlays, renderOverlay } from '../src/render-folder.ts'
import { breakManifest } from './fixtures/break-manifest.ts'

for (const overlay of overlays) {
  t.test(`${overlay}: its namespace enforces the restricted profile, and its pods keep it`, async (t) => {
    const manifests = await renderOverlay(overlay)
    const namespaces = manifests.filter(({ kind }) => kind === 'Namespace')
    t.ok(namespaces.length > 0)
    for (const { metadata } of namespaces)
      t.equal(metadata.labels?.['pod-security.kubernetes.io/enforce'], 'restricted')
    t.strictSame(podSecurityProblems(manifests), [])
  })
}

t.test('a pod that the profile refuses is found', async (t) => {
  const manifests = await renderOverlay('dev')
  const pod = 'spec.template.spec'
  const context = `${pod}.containers.0.securityContext`
  const cases: [string, string, unknown, RegExp][] = [
    ['Deployment/auth', `${pod}.hostNetwork`, true, /shares something/],
    ['Deployment/auth', `${pod}.volumes`, [{ name: 'x', hostPath: { path: '/' } }], /another kind: x/],
    ['Deployment/auth', `${context}.privileged`, true, /is privileged/],
    ['StatefulSet/nats', `${context}.allowPrivilegeEscalation`, undefined, /gain privileges/],
    ['StatefulSet/mongodb', `${context}.capabilities`, undefined, /keeps capabilities/],
    ['Deployment/auth', `${context}.capabilities.add`, ['SYS_ADMIN'], /adds capabilities/],
    ['Job/topology', `${pod}.securityContext.runAsNonRoot`, undefined, /may run as root/],
    ['Deployment/auth', `${context}.runAsUser`, 0, /runs as root/],
    ['Deployment/auth', `${pod}.securityContext.seccompProfile`, undefined, /no seccomp profile/],
  ]
  for (const [title, path, value, message] of cases) {
    const problems = podSecurityProblems(breakManifest(manifests, title, path, value)).join('; ')
    t.match(problems, message)
    t.match(problems, new RegExp(`^${title}`))
  }
})
