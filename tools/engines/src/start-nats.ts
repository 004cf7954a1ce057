import { join } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { type EngineLogger, silentLogger } from './engine-logger.ts'
import { createProgress, type Progress } from './fetch/progress.ts'
import { chooseNats } from './nats/choose-nats.ts'
import type { NatsAccount, NatsCluster } from './nats/nats-options.ts'
import { requireNatsVersion } from './nats/nats-version.ts'
import { runNatsServer } from './nats/run-nats-server.ts'
import { natsServerVersion } from './nats/server-info.ts'

export type NatsEngine = {
  url: string
  kind: 'external' | 'nats-server' | 'release' | 'debian'
  version: string
  /** Reason for this engine, for the line that names it. */
  reason: string
  /** Null for a server of one's own. */
  monitorUrl: string | null
  /** The nkey seed of each user that was given without key or password; none for a server of one's own. */
  seeds: Record<string, string>
  /** Process id of the server; null for a server of one's own. */
  pid: () => number | null
  stop: () => Promise<void>
}

export type StartNatsOptions = {
  /** State lies in its folder `nats`. */
  dataDir: string
  accounts: readonly NatsAccount[]
  port?: number
  monitorPort?: number
  cluster?: NatsCluster
  serverName?: string
  env?: NodeJS.ProcessEnv
  logger?: EngineLogger
  progress?: Progress
}

/**
 * Gives a NATS server with JetStream: the first of `NATS_URL`, a `nats-server` ≥ 2.10 of the machine, a
 * fetched one.
 * @throws EngineError that says what is wrong and what helps.
 */
export async function startNats(options: StartNatsOptions): Promise<NatsEngine> {
  const { dataDir, env = process.env, logger = silentLogger, progress = createProgress() } = options
  const choice = await chooseNats({ env, cacheDir: cacheFolder(env), progress })
  const { kind, reason } = choice
  if (choice.kind === 'external') {
    const version = await natsServerVersion(choice.url)
    requireNatsVersion(version, 'the NATS server of NATS_URL')
    const nothing = { monitorUrl: null, seeds: {}, pid: () => null, stop: async () => {} }
    return { url: choice.url, kind, version, reason, ...nothing }
  }
  const { accounts, port, monitorPort, cluster, serverName } = options
  const running = await runNatsServer({
    program: choice.program,
    dataDir: join(dataDir, 'nats'),
    accounts,
    logger,
    ...(port === undefined ? {} : { port }),
    ...(monitorPort === undefined ? {} : { monitorPort }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(serverName === undefined ? {} : { serverName }),
  })
  return { ...running, kind, reason }
}
