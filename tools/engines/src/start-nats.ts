import { join } from 'node:path'
import { cacheFolder } from './engine-settings.ts'
import { type EngineLogger, silentLogger } from './processes/engine-process.ts'
import { createProgress, type Progress } from './fetch/progress.ts'
import { chooseNats } from './nats/choose-nats.ts'
import { natsServerVersion, requireNatsVersion } from './nats/nats-version.ts'
import { type NatsServerOptions, runNatsServer } from './nats/run-nats-server.ts'

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

/** State lies in the folder `nats` of `dataDir`. */
export type StartNatsOptions = Omit<NatsServerOptions, 'program' | 'logger'> & {
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
  const { accounts, port, monitorPort, cluster, serverName, durable } = options
  const { program } = choice
  const server = { accounts, port, monitorPort, cluster, serverName, durable, program, logger }
  return { ...(await runNatsServer({ ...server, dataDir: join(dataDir, 'nats') })), kind, reason }
}
