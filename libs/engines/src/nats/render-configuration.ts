import type { NatsAccount, NatsCluster, NatsSubjects, NatsUser } from './nats-options.ts'

export type NatsConfiguration = {
  serverName: string
  port: number
  monitorPort: number
  storeFolder: string
  accounts: readonly NatsAccount[]
  cluster?: NatsCluster
}

/**
 * The server's configuration as JSON, which its parser reads as it is, so that no value needs quoting of our own.
 * Loopback only; every acknowledged message is on the disk (`sync_interval: always`).
 */
export function renderConfiguration(configuration: NatsConfiguration): string {
  const { serverName, port, monitorPort, storeFolder, accounts, cluster } = configuration
  const rendered = {
    server_name: serverName,
    listen: `127.0.0.1:${port}`,
    http: `127.0.0.1:${monitorPort}`,
    max_payload: 1_048_576,
    jetstream: { store_dir: storeFolder, sync_interval: 'always' },
    accounts: Object.fromEntries(
      accounts.map(({ name, users }) => [name, { jetstream: 'enabled', users: users.map(renderUser) }]),
    ),
    ...(cluster === undefined
      ? {}
      : { cluster: { name: cluster.name, listen: `127.0.0.1:${cluster.port}`, routes: cluster.routes } }),
  }
  return `${JSON.stringify(rendered, null, 2)}\n`
}

function renderUser({ name, publicKey, password, permissions }: NatsUser): Record<string, unknown> {
  const rights =
    permissions === undefined
      ? {}
      : {
          permissions: {
            ...renderSubjects('publish', permissions.publish),
            ...renderSubjects('subscribe', permissions.subscribe),
          },
        }
  if (publicKey !== undefined) return { nkey: publicKey, ...rights }
  if (password !== undefined) return { user: name, password, ...rights }
  throw new Error(`NATS user ${name} has neither key nor password`)
}

function renderSubjects(
  kind: 'publish' | 'subscribe',
  subjects: NatsSubjects | undefined,
): Record<string, NatsSubjects> {
  return subjects === undefined ? {} : { [kind]: subjects }
}
