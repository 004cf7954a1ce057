import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import type { Manifest } from './render-folder.ts'
import type { Container } from './workloads.ts'

const labels = z.record(z.string(), z.string())
type Labels = Readonly<Record<string, string>>
const selectorSchema = z.strictObject({
  matchLabels: labels.optional(),
  matchExpressions: z
    .array(
      z.strictObject({ key: z.string(), operator: z.enum(['In', 'NotIn']), values: z.array(z.string()) }),
    )
    .optional(),
})
type Selector = z.infer<typeof selectorSchema>
const peerSchema = z.strictObject({
  podSelector: selectorSchema.optional(),
  namespaceSelector: selectorSchema.optional(),
  ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
})
const portsSchema = z
  .array(
    z.strictObject({
      port: z.union([z.string(), z.number()]),
      endPort: z.number().optional(),
      protocol: z.enum(['TCP', 'UDP']).default('TCP'),
    }),
  )
  .optional()
const policySchema = z.looseObject({
  metadata: z.looseObject({ namespace: z.string().default('') }),
  spec: z.strictObject({
    podSelector: selectorSchema,
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
    ingress: z
      .array(z.strictObject({ from: z.array(peerSchema).optional(), ports: portsSchema }))
      .default([]),
    egress: z.array(z.strictObject({ to: z.array(peerSchema).optional(), ports: portsSchema })).default([]),
  }),
})

/** Who speaks or is spoken to: a pod, or an address outside of the cluster. */
export type Party =
  | {
      readonly kind: 'pod'
      readonly namespace: string
      readonly namespaceLabels: Labels
      readonly labels: Labels
      readonly ports: Container['ports']
    }
  | { readonly kind: 'address'; readonly ip: string }

type Policy = z.infer<typeof policySchema>

/**
 * Whether the NetworkPolicies let `from` open a connection to `port` of `to`, as Kubernetes defines it: a pod
 * that a policy selects may do what some policy allows and nothing else, on both sides.
 */
export function mayConnect(
  manifests: readonly Manifest[],
  { from, to, port, protocol = 'TCP' }: { from: Party; to: Party; port: number; protocol?: 'TCP' | 'UDP' },
): boolean {
  const policies = manifests
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .map((manifest) => policySchema.parse(manifest))
  const portsAllow = (ports: z.infer<typeof portsSchema>, names: Container['ports']) =>
    ports === undefined || ports.some((one) => one.protocol === protocol && isPort(one, port, names))
  const namesOf = (party: Party) => (party.kind === 'pod' ? party.ports : [])
  const leaves = sideAllows(policies, 'Egress', from, ({ metadata, spec }) =>
    spec.egress.some(
      ({ to: peers, ports }) =>
        (peers === undefined || peers.some((peer) => isPeer(peer, to, metadata.namespace))) &&
        portsAllow(ports, namesOf(to)),
    ),
  )
  const enters = sideAllows(policies, 'Ingress', to, ({ metadata, spec }) =>
    spec.ingress.some(
      ({ from: peers, ports }) =>
        (peers === undefined || peers.some((peer) => isPeer(peer, from, metadata.namespace))) &&
        portsAllow(ports, namesOf(to)),
    ),
  )
  return leaves && enters
}

function sideAllows(
  policies: readonly Policy[],
  type: 'Ingress' | 'Egress',
  party: Party,
  allows: (policy: Policy) => boolean,
): boolean {
  if (party.kind === 'address') return true
  const selecting = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === party.namespace &&
      spec.policyTypes.includes(type) &&
      selects(spec.podSelector, party.labels),
  )
  return selecting.length === 0 || selecting.some(allows)
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(
      ({ key, operator, values }) => values.includes(labels[key] ?? '') === (operator === 'In'),
    )
  )
}

function isPeer(peer: z.infer<typeof peerSchema>, party: Party, namespace: string): boolean {
  if (peer.ipBlock !== undefined) {
    if (party.kind !== 'address') return false
    const { cidr, except } = peer.ipBlock
    return isInside(party.ip, [cidr]) && !isInside(party.ip, except)
  }
  if (party.kind === 'address') return false
  const isNamespace =
    peer.namespaceSelector === undefined
      ? party.namespace === namespace
      : selects(peer.namespaceSelector, party.namespaceLabels)
  return isNamespace && (peer.podSelector === undefined || selects(peer.podSelector, party.labels))
}

function isInside(ip: string, ranges: readonly string[]): boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  return list.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4')
}

function isPort(
  { port: first, endPort }: { port: string | number; endPort?: number | undefined },
  wanted: number,
  names: Container['ports'],
): boolean {
  if (typeof first === 'string')
    return names.some(({ name, containerPort }) => name === first && containerPort === wanted)
  return wanted >= first && wanted <= (endPort ?? first)
}
