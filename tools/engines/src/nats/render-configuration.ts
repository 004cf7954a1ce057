import type {
  NatsAccount,
  NatsCluster,
  NatsExport,
  NatsImport,
  NatsSubjects,
  NatsUser,
} from './nats-options.ts'

export type NatsConfiguration = {
  serverName: string
  port: number
  monitorPort: number
  storeFolder: string
  accounts: readonly NatsAccount[]
  cluster?: NatsCluster
}

/**
 * The server's configuration as JSON, which its parser reads as it is, so that no value needs quoting of our
 * own. Loopback only; every acknowledged message is on the disk (`sync_interval: always`).
 */
export function renderConfiguration(configuration: NatsConfiguration): string {
  const { serverName, port, monitorPort, storeFolder, accounts, cluster } = configuration
  const rendered = {
    server_name: serverName,
    listen: `127.0.0.1:${port}`,
    http: `127.0.0.1:${monitorPort}`,
    max_payload: 1_048_576,
    jetstream: { store_dir: storeFolder, sync_interval: 'always' },
    accounts: Object.fromEntries(accounts.map((account) => [account.name, renderAccount(account)])),
    ...(cluster === undefined
      ? {}
      : { cluster: { name: cluster.name, listen: `127.0.0.1:${cluster.port}`, routes: cluster.routes } }),
  }
  return `${JSON.stringify(rendered, null, 2)}\n`
}

function renderAccount({ users, jetstream = true, exports, imports }: NatsAccount): Record<string, unknown> {
  return {
    ...(jetstream ? { jetstream: 'enabled' } : {}),
    users: users.map(renderUser),
    ...(exports === undefined ? {} : { exports: exports.map(renderExport) }),
    ...(imports === undefined ? {} : { imports: imports.map(renderImport) }),
  }
}

function renderExport({ kind, subject, accounts, manyAnswers = false }: NatsExport): Record<string, unknown> {
  return { [kind]: subject, accounts, ...(manyAnswers ? { response_type: 'Stream' } : {}) }
}

function renderImport({ kind, account, subject }: NatsImport): Record<string, unknown> {
  return { [kind]: { account, subject } }
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
