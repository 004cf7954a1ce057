import { isAllowedAddress } from '@pitboss/outbound/address-guard'
import t from 'tap'
import { mayConnect, type Party } from '../src/reachability.ts'
import { type Manifest, renderOverlay } from '../src/render-folder.ts'
import { type Connection, insideEngines, whoSpeaksToWhom } from '../src/who-speaks-to-whom.ts'
import { workloadsOf } from '../src/workloads.ts'
import { breakManifest } from './fixtures/break-manifest.ts'

const elsewhere = (namespace: string, more: object, labels: Record<string, string> = {}): Party => ({
  kind: 'pod',
  namespace,
  namespaceLabels: { 'kubernetes.io/metadata.name': namespace, ...more },
  labels,
  ports: [],
})

const engines = { 'pitboss-role': 'engines' }

/** Everybody who could open or take a connection, by name. */
function partiesOf(manifests: readonly Manifest[]): Map<string, Party> {
  const namespace = manifests.find(({ kind }) => kind === 'Namespace')?.metadata.name ?? ''
  const pods = workloadsOf(manifests).map(({ labels, pod }): [string, Party] => [
    labels['app.kubernetes.io/name'] ?? '',
    {
      kind: 'pod',
      namespace,
      namespaceLabels: { 'kubernetes.io/metadata.name': namespace },
      labels,
      ports: pod.containers.flatMap(({ ports }) => ports),
    },
  ])
  return new Map<string, Party>([
    ['edge', elsewhere('gateways', { 'pitboss-role': 'edge' })],
    ['monitoring', elsewhere('monitoring', { 'pitboss-role': 'monitoring' })],
    ['neighbour', elsewhere('neighbour', {}, { 'app.kubernetes.io/name': 'gateway' })],
    ['dns', elsewhere('kube-system', {}, { 'k8s-app': 'kube-dns' })],
    ['internet', { kind: 'address', ip: '8.8.8.8' }],
    ['metadata', { kind: 'address', ip: '169.254.169.254' }],
    ['nats', elsewhere('nats', engines, { 'app.kubernetes.io/name': 'nats' })],
    ['mongodb', elsewhere('mongodb', engines, { 'app.kubernetes.io/name': 'mongodb' })],
    ['another nats', elsewhere('neighbour', {}, { 'app.kubernetes.io/name': 'nats' })],
    ['another mongodb', elsewhere('neighbour', {}, { 'app.kubernetes.io/name': 'mongodb' })],
    ...pods,
  ])
}

const ports = [53, 80, 443, 4222, 6222, 8080, 8222, 9090, 27_017]
const portsOutside = [22, 53, 80, 443, 1023, 1024, 8443, 65_535]
const shown = ({ from, to, port }: Connection) => `${from} → ${to}:${port}`

/** Every connection between two parties of the installation that the policies allow. */
function allowed(manifests: readonly Manifest[]): string[] {
  const parties = partiesOf(manifests)
  const inside = new Set(workloadsOf(manifests).map(({ labels }) => labels['app.kubernetes.io/name']))
  const found: string[] = []
  for (const [from, source] of parties) {
    for (const [to, target] of parties) {
      // A connection between two strangers is not ours to judge.
      if (!inside.has(from) && !inside.has(to)) continue
      for (const port of target.kind === 'address' ? portsOutside : ports) {
        const protocol = port === 53 ? 'UDP' : 'TCP'
        if (mayConnect(manifests, { from: source, to: target, port, protocol }))
          found.push(shown({ from, to, port }))
      }
    }
  }
  return found.toSorted()
}

for (const overlay of ['dev', 'staging', 'production'] as const) {
  t.test(`${overlay}: the policies allow the table and nothing else`, async (t) => {
    const manifests = await renderOverlay(overlay)
    const inside = new Set(workloadsOf(manifests).map(({ labels }) => labels['app.kubernetes.io/name']))
    const wanted = [...whoSpeaksToWhom, ...insideEngines.filter(({ from }) => inside.has(from))]
      .filter(({ from, to }) => inside.has(from) || inside.has(to))
      .map(shown)
    t.strictSame(allowed(manifests), wanted.toSorted())
  })
}

t.test('a policy that lets more or less through is found', async (t) => {
  const manifests = await renderOverlay('staging')
  const now = new Set(allowed(manifests))
  const changes = (title: string, path: string, value: unknown) => {
    const after = allowed(breakManifest(manifests, title, path, value))
    return {
      more: after.filter((one) => !now.has(one)),
      less: [...now].filter((one) => !after.includes(one)),
    }
  }
  const values = 'spec.podSelector.matchExpressions.0.values'
  t.match(changes('NetworkPolicy/owners-reach-mongodb', values, ['gateway', 'rounds']), {
    more: ['gateway → mongodb:27017'],
    less: ['auth → mongodb:27017', 'wallet-bridge → mongodb:27017', 'webhooks → mongodb:27017'],
  })
  t.match(
    changes('NetworkPolicy/edge-reaches-gateway', 'spec.ingress.0.from', undefined).more.join(),
    /neighbour → gateway:8080/,
  )
  t.match(
    changes('NetworkPolicy/edge-reaches-gateway', 'spec.ingress.0.ports', undefined).more.join(),
    /edge → gateway:9090/,
  )
  t.match(
    changes('NetworkPolicy/nobody-speaks', 'spec.podSelector', { matchLabels: { no: 'body' } }).more.join(),
    /neighbour → ops:8080/,
  )
  const except = 'spec.egress.0.to.0.ipBlock.except'
  t.match(
    changes('NetworkPolicy/callers-reach-the-internet', except, []).more.join(),
    /webhooks → metadata:80/,
  )
})

t.test('what the code never calls, the network does not let through either', async (t) => {
  const manifests = await renderOverlay('production')
  const webhooks = partiesOf(manifests).get('webhooks')
  const never = [
    '10.1.2.3',
    '127.0.0.1',
    '169.254.169.254',
    '172.20.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '198.18.0.1',
    '0.1.2.3',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '168.63.129.16',
    '::1',
    'fd00::1',
    'fe80::1',
    'ff02::1',
    '2002:a00:1::1',
    '2001:0:a00:1::1',
    '2001:db8::1',
    '3fff::1',
  ]
  const public_ = ['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111']
  t.ok(webhooks)
  if (webhooks === undefined) return
  for (const ip of [...never, ...public_]) {
    const byCode = isAllowedAddress(ip, { environment: 'LIVE', allowLoopback: false, isDenied: () => false })
    t.equal(byCode, public_.includes(ip), `${ip} by code`)
    t.equal(
      mayConnect(manifests, { from: webhooks, to: { kind: 'address', ip }, port: 443 }),
      byCode,
      `${ip} by network`,
    )
  }
})
