import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { NatsUser } from './nats/permissions.ts'
import { readUserSeeds } from '@pitboss/engines/nats/nats-configuration'
import { freePort } from '@pitboss/engines/processes/free-port'
import { loadMasterKeys } from './state-file.ts'
import { type ServiceName, type StackOptions, serviceNames, storedServices } from './stack-options.ts'
import type { ProcessSpec } from './supervised-process.ts'

const root = new URL('../../../', import.meta.url)

/** The path of a source file of this project, from the project's root. */
export function projectFile(path: string): string {
  return fileURLToPath(new URL(path, root))
}

/** Settings of each replica of each service. */
export async function serviceSpecs({
  options,
  port,
  baseUrl,
  mongodbUrl,
  natsUrl,
  seeds,
  dataDir,
}: {
  options: StackOptions
  port: number
  baseUrl: string
  mongodbUrl: string
  natsUrl: string
  seeds: Readonly<Partial<Record<NatsUser, string>>>
  dataDir: string
}): Promise<ProcessSpec[]> {
  const specs: ProcessSpec[] = []
  for (const name of serviceNames) {
    for (let replica = 1; replica <= options.replicas[name]; replica++) {
      const probePort = await freePort()
      specs.push({
        name,
        replica,
        entry: entryOf(name, options.entries),
        httpUrl: `http://127.0.0.1:${probePort}`,
        environment: {
          NATS_URL: natsUrl,
          PITBOSS_PROBE_HOST: '127.0.0.1',
          PITBOSS_PROBE_PORT: String(probePort),
          PITBOSS_BASE_URL: baseUrl,
          ...(name === 'gateway'
            ? { PORT: String(port), HOST: '127.0.0.1', PITBOSS_WEB_FOLDER: projectFile('web/dist') }
            : { MONGODB_URL: mongodbUrl }),
          ...extrasOf(name, options.allowLoopback),
        },
        freshEnvironment: () => ({
          ...natsSeedOf(dataDir, name, seeds),
          ...(name === 'gateway' ? {} : masterKeysOf(dataDir, name)),
        }),
      })
    }
  }
  return specs
}

/** Read at each start of a process, so that keys can be exchanged while the others run. */
function natsSeedOf(
  dataDir: string,
  name: ServiceName,
  atStart: Readonly<Partial<Record<NatsUser, string>>>,
): Record<string, string> {
  // A broker of one's own has users of its own.
  if (atStart[name] === undefined) return {}
  return { NATS_NKEY_SEED: readUserSeeds(join(dataDir, 'nats', 'nats'))[name] ?? atStart[name] }
}

/** Read at each start of a process, as above. */
function masterKeysOf(dataDir: string, name: ServiceName): Record<string, string> {
  return { PITBOSS_MASTER_KEYS: loadMasterKeys(dataDir, storedServices).get(name) ?? '' }
}

/** The service's own entry file, or the one of a proof that starts it in another way. */
function entryOf(name: ServiceName, entries: StackOptions['entries']): string {
  const other = entries === null ? null : join(entries, `${name}-main.ts`)
  return other !== null && existsSync(other) ? other : projectFile(`services/${name}/src/main.ts`)
}

/**
 * The runner allows loopback for test endpoints and wallets: everything here is on this machine. Source:
 * docs/contract.md, section 9.
 */
function extrasOf(name: ServiceName, allow: StackOptions['allowLoopback']): Record<string, string> {
  if (name === 'webhooks') return { PITBOSS_ALLOW_LOOPBACK_WEBHOOKS: allow.webhooks ? 'yes' : 'no' }
  if (name === 'wallet-bridge') return { PITBOSS_ALLOW_LOOPBACK_WALLETS: allow.wallets ? 'yes' : 'no' }
  return {}
}
