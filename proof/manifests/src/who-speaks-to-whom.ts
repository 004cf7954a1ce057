import { indexJobs, serviceNames, storedServices } from './services.ts'

/** A connection that the product needs: who opens it, to whom, at which port. */
export type Connection = {
  readonly from: string
  readonly to: string
  readonly port: number
  readonly protocol?: 'UDP'
}

const each = (names: readonly string[], to: string, port: number): Connection[] =>
  names.map((from) => ({ from, to, port }))

const speakers = [...serviceNames, 'ops']

/**
 * The one table of who speaks to whom. Services speak to each other over NATS alone. The NetworkPolicies of
 * `deploy/k8s` allow this and nothing else; its README has the same table in words.
 */
export const whoSpeaksToWhom: readonly Connection[] = [
  { from: 'edge', to: 'gateway', port: 8080 },
  ...each(speakers, 'nats', 4222),
  ...each([...storedServices, ...indexJobs], 'mongodb', 27_017),
  // By libs/outbound: port 443, ports from 1024, and for test wallets and endpoints port 80.
  ...[80, 443, 1024, 8443, 65_535].flatMap((port) => each(['wallet-bridge', 'webhooks'], 'internet', port)),
  ...serviceNames.map((to) => ({ from: 'monitoring', to, port: 9090 })),
  ...[...speakers, ...indexJobs, 'nats', 'mongodb'].map((from) => ({
    from,
    to: 'dns',
    port: 53,
    protocol: 'UDP' as const,
  })),
]

/** Connections inside the engines that overlays bring along. */
export const insideEngines: readonly Connection[] = [
  { from: 'nats', to: 'nats', port: 6222 },
  { from: 'mongodb', to: 'mongodb', port: 27_017 },
]
