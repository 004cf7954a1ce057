import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Pods } from './images/prepare-pods.ts'
import type { NatsUser } from './nats/permissions.ts'
import { readUserSeeds } from '@pitboss/engines/nats/nats-configuration'
import { freePort } from '@pitboss/engines/processes/free-port'
import { loadMasterKeys } from './state-file.ts'
import { type ServiceName, type StackOptions, serviceNames, storedServices } from './stack-options.ts'
import type { ProcessSpec } from './supervised-process.ts'

/** As in the images. */
const nodeOptions: Readonly<Partial<Record<ServiceName, readonly string[]>>> = {
  gateway: ['--max-semi-space-size=8'],
}

const root = new URL('../../../', import.meta.url)

/** The path of a source file of this project, from the project's root. */
export function projectFile(path: string): string {
  return fileURLToPath(new URL(path, root))
}

/** Settings that all replicas of a stack share. */
export type ServiceGround = {
  options: StackOptions
  port: number
  baseUrl: string
  mongodbUrl: string
  natsUrl: string
  seeds: Readonly<Partial<Record<NatsUser, string>>>
  dataDir: string
  /** With what services are played as pods; null where they run from the sources. */
  pods: Pods | null
}

/** Settings of each replica of each service. */
export async function serviceSpecs(ground: ServiceGround): Promise<ProcessSpec[]> {
  const specs: ProcessSpec[] = []
  for (const name of serviceNames) {
    for (let replica = 1; replica <= ground.options.replicas[name]; replica++)
      specs.push(await serviceSpec(name, replica, ground))
  }
  return specs
}

/** A replica of another build, whose files lie in `root`, or with settings of its own. */
export type OtherReplica = {
  readonly root?: string | undefined
  readonly environment?: Readonly<Record<string, string>> | undefined
}

/** Settings of one replica. Each has a free port for its probes. */
export async function serviceSpec(
  name: ServiceName,
  replica: number,
  { options, port, baseUrl, mongodbUrl, natsUrl, seeds, dataDir, pods }: ServiceGround,
  { root: otherRoot, environment }: OtherReplica = {},
): Promise<ProcessSpec> {
  const probePort = await freePort()
  const played = pods === null || otherRoot !== undefined ? null : podSpec(name, replica, pods)
  const inBuild = (path: string) => (otherRoot === undefined ? projectFile(path) : join(otherRoot, path))
  return {
    name,
    replica,
    entry:
      played?.entry ??
      entryOf(name, otherRoot === undefined ? options.entries : null) ??
      inBuild(`services/${name}/src/main.ts`),
    ...(played === null
      ? { nodeOptions: nodeOptions[name] ?? [] }
      : { args: played.args, killSignal: played.killSignal }),
    httpUrl: `http://127.0.0.1:${probePort}`,
    environment: {
      ...played?.environment,
      NATS_URL: natsUrl,
      PITBOSS_PROBE_HOST: '127.0.0.1',
      PITBOSS_PROBE_PORT: String(probePort),
      PITBOSS_BASE_URL: baseUrl,
      ...(name === 'gateway'
        ? {
            PORT: String(port),
            HOST: '127.0.0.1',
            PITBOSS_WEB_FOLDER: played === null ? inBuild('web/dist') : '/app/web/dist',
          }
        : { MONGODB_URL: mongodbUrl }),
      ...(name === 'auth' && played === null ? { NODE_COMPILE_CACHE: compileCacheOf(dataDir) } : {}),
      ...extrasOf(name, options.allowLoopback),
      ...environment,
    },
    freshEnvironment: () => ({
      ...natsSeedOf(dataDir, name, seeds),
      ...(name === 'gateway' ? {} : masterKeysOf(dataDir, name)),
    }),
  }
}

/**
 * Where auth keeps its compiled code between starts. The others have none: it slows down those who play
 * rounds (docs/benchmarks.md, "What was tried and not taken"), and a pod cannot write here.
 */
function compileCacheOf(dataDir: string): string {
  return process.env.NODE_COMPILE_CACHE ?? join(dataDir, 'compiled')
}

/** The process that plays a replica as a pod. The services' own settings reach its container. */
function podSpec(name: ServiceName, replica: number, { podman, images, prefix }: Pods) {
  return {
    entry: projectFile('tools/stack/src/pod-main.ts'),
    args: [podman.program, `${prefix}-${name}-${replica}`, images[name]],
    environment: podman.env,
    killSignal: 'SIGQUIT' as const,
  }
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

/** The entry file of a test or proof that starts the service in another way; null when there is none. */
function entryOf(name: ServiceName, entries: StackOptions['entries']): string | null {
  const files = entries === null ? [] : ['js', 'ts'].map((ending) => join(entries, `${name}-main.${ending}`))
  return files.find((file) => existsSync(file)) ?? null
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
