import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { EngineError, reasonOf } from '../engine-error.ts'
import {
  type EngineLogger,
  type EngineProcess,
  lastWords,
  startEngineProcess,
  supervise,
} from '../processes/engine-process.ts'
import { choosePort } from '../processes/free-port.ts'
import { openDataFolder } from '../processes/open-data-folder.ts'
import { waitUntil } from '../processes/wait-until.ts'
import {
  type NatsAccount,
  type NatsCluster,
  renderConfiguration,
  withUserSeeds,
} from './nats-configuration.ts'
import { requireNatsVersion } from './nats-version.ts'

export type RunningNats = {
  url: string
  monitorUrl: string
  version: string
  /** The seed of each user that has a key pair of this data folder. */
  seeds: Record<string, string>
  pid: () => number
  stop: () => Promise<void>
}

export type NatsServerOptions = {
  program: string
  dataDir: string
  accounts: readonly NatsAccount[]
  port?: number | undefined
  monitorPort?: number | undefined
  cluster?: NatsCluster | undefined
  serverName?: string | undefined
  /** Whether an acknowledged message survives a power cut; it does unless false, which only tests say. */
  durable?: boolean | undefined
  logger: EngineLogger
}

const readyTimeoutMs = 30_000
const varz = z.object({
  version: z.string(),
  jetstream: z.object({ config: z.object({ sync_always: z.boolean().optional() }).optional() }),
})

/**
 * Runs a server program on a data folder, supervised: a killed one is back within a second on the same port.
 * @throws EngineError when it does not start, is too old, or did not take `sync_interval: always`.
 */
export async function runNatsServer(options: NatsServerOptions): Promise<RunningNats> {
  const { program, logger, serverName = 'pitboss', cluster, durable = true } = options
  const dataDir = resolve(options.dataDir)
  const port = await choosePort(options.port, 'the broker')
  const monitorPort = await choosePort(options.monitorPort, "the broker's monitor")
  const folder = await openDataFolder(dataDir)
  try {
    const { accounts, seeds } = withUserSeeds(dataDir, options.accounts)
    const configuration = join(dataDir, 'nats.conf')
    const logPath = join(dataDir, 'nats.log')
    const storeFolder = join(dataDir, 'jetstream')
    const values = { serverName, port, monitorPort, storeFolder, accounts, cluster, durable }
    writeFileSync(configuration, renderConfiguration(values), { mode: 0o600 })
    const monitorUrl = `http://127.0.0.1:${monitorPort}`
    let version = ''
    const server = await supervise({
      name: 'nats-server',
      start: async (signal) => {
        const started = await startEngineProcess(
          {
            name: 'nats-server',
            program,
            args: ['-c', configuration],
            logPath,
            endBy: [{ signal: 'SIGTERM', waitMs: 10_000 }],
          },
          folder.record,
        )
        version = await checkedVersion(started, { monitorUrl, logPath, durable }, signal)
        return started
      },
      logger,
    })
    let stopping: Promise<void> | null = null
    const stop = () => {
      stopping ??= server.stop().then(() => folder.close())
      return stopping
    }
    return { url: `nats://127.0.0.1:${port}`, monitorUrl, version, seeds, pid: server.pid, stop }
  } catch (error) {
    await folder.close()
    throw error
  }
}

async function checkedVersion(
  server: EngineProcess,
  { monitorUrl, logPath, durable }: { monitorUrl: string; logPath: string; durable: boolean },
  signal: AbortSignal,
): Promise<string> {
  const answer = await waitUntil<z.infer<typeof varz> | 'gone'>(
    async () => (server.hasExited() ? 'gone' : await healthy(monitorUrl)),
    { timeoutMs: readyTimeoutMs, signal },
  )
  try {
    if (answer === null || answer === 'gone')
      throw new EngineError(
        `nats-server did not start: ${lastWords(logPath, 8, /\[(FTL|ERR)\]|nats-server:/)}`,
      )
    requireNatsVersion(answer.version, 'nats-server')
    if (durable && answer.jetstream.config?.sync_always !== true) {
      throw new EngineError(
        `nats-server ${answer.version} did not take sync_interval: always, so messages could be lost`,
      )
    }
    return answer.version
  } catch (error) {
    await server.end()
    throw error
  }
}

async function healthy(monitorUrl: string): Promise<z.infer<typeof varz> | null> {
  try {
    const health = await fetch(`${monitorUrl}/healthz?js-server-only=true`, {
      signal: AbortSignal.timeout(1_000),
    })
    await health.arrayBuffer()
    if (!health.ok) return null
    const answer = await fetch(`${monitorUrl}/varz`, { signal: AbortSignal.timeout(1_000) })
    return varz.parse(await answer.json())
  } catch (error) {
    if (error instanceof z.ZodError)
      throw new EngineError(`nats-server's monitor gives no JetStream: ${reasonOf(error)}`)
    return null
  }
}
