import { join } from 'node:path'
import { z } from 'zod'
import { cacheFolder } from '@pitboss/engines/engine-settings'
import { type EngineLogger, silentLogger } from '@pitboss/engines/processes/engine-process'
import { createProgress, type Progress } from '@pitboss/engines/fetch/progress'
import { freePort } from '@pitboss/engines/processes/free-port'
import { EngineError } from '@pitboss/engines/engine-error'
import { waitUntil } from '@pitboss/engines/processes/wait-until'
import { chooseNats } from '@pitboss/engines/nats/choose-nats'
import type { NatsAccount } from '@pitboss/engines/nats/nats-configuration'
import { type RunningNats, runNatsServer } from '@pitboss/engines/nats/run-nats-server'

export type NatsClusterEngine = {
  /** Addresses of all servers, separated by commas. */
  url: string
  servers: readonly RunningNats[]
  /** Kills a server, which then stays away. @returns what starts it again on its data */
  loseServer: (index: number) => Promise<() => Promise<void>>
  /** Resolves when every server has every replica of its streams, up to date. */
  untilHealthy: () => Promise<void>
  stop: () => Promise<void>
}

const serverCount = 3
const electionTimeoutMs = 30_000
const healthyTimeoutMs = 60_000

/**
 * Runs three servers of one cluster on loopback and waits until they have elected a JetStream leader, so that
 * streams with three replicas can be made. Users must have passwords or public keys: seeds are made per data
 * folder, and each server has its own.
 */
export async function startNatsCluster(options: {
  dataDir: string
  accounts: readonly NatsAccount[]
  env?: NodeJS.ProcessEnv
  logger?: EngineLogger
  progress?: Progress
}): Promise<NatsClusterEngine> {
  const { dataDir, accounts, env = process.env, logger = silentLogger, progress = createProgress() } = options
  const { NATS_URL: _, ...withoutUrl } = env
  const choice = await chooseNats({ env: withoutUrl, cacheDir: cacheFolder(env), progress })
  if (choice.kind === 'external') throw new EngineError('a cluster is made of servers of our own')
  const { program } = choice
  const ports = await Promise.all(Array.from({ length: serverCount }, () => freePort()))
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`)
  const run = (index: number, samePorts: { port?: number; monitorPort?: number } = {}) => {
    const serverName = `n${index + 1}`
    const cluster = { name: 'pitboss', port: ports[index] ?? 0, routes }
    const own = { dataDir: join(dataDir, serverName), serverName, cluster, ...samePorts }
    return runNatsServer({ program, accounts, logger, ...own })
  }
  const results = await Promise.allSettled(ports.map((_, index) => run(index)))
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  const failed = results.find((result) => result.status === 'rejected')
  const elected =
    failed === undefined &&
    (await waitUntil(() => isElected(servers), { timeoutMs: electionTimeoutMs, everyMs: 50 }))
  if (elected) {
    return {
      ...{ url: servers.map(({ url }) => url).join(','), servers, stop },
      async loseServer(index) {
        const server = servers[index]
        if (server === undefined) throw new EngineError(`there is no server ${index}`)
        process.kill(server.pid(), 'SIGKILL')
        // Asked right after the kill, it is not started again.
        await server.stop()
        const portOf = (url: string) => Number(new URL(url).port)
        return async () => {
          const samePorts = { port: portOf(server.url), monitorPort: portOf(server.monitorUrl) }
          servers[index] = await run(index, samePorts)
        }
      },
      async untilHealthy() {
        const isHealthy = async () => ((await areHealthy(servers)) ? true : null)
        if (await waitUntil(isHealthy, { timeoutMs: healthyTimeoutMs, everyMs: 100 })) return
        throw new EngineError(`the NATS servers in ${dataDir} are not up to date; see their nats.log`)
      },
    }
  }
  await stop()
  throw (
    failed?.reason ??
    new EngineError(`the NATS servers in ${dataDir} elected no JetStream leader; see their nats.log`)
  )
}

const jsz = z.object({
  meta_cluster: z.object({ leader: z.string().min(1), cluster_size: z.literal(serverCount) }),
})

/** Whether every server knows the leader of JetStream's own group. */
async function isElected(servers: readonly RunningNats[]): Promise<true | null> {
  const states = await Promise.all(
    servers.map(async ({ monitorUrl }) => {
      try {
        const answer = await fetch(`${monitorUrl}/jsz`, { signal: AbortSignal.timeout(1_000) })
        return jsz.safeParse(await answer.json()).success
      } catch {
        return false
      }
    }),
  )
  return states.every(Boolean) ? true : null
}

/** Whether each server says that its streams and consumers are there and current. */
async function areHealthy(servers: readonly RunningNats[]): Promise<boolean> {
  const answers = await Promise.all(
    servers.map(async ({ monitorUrl }) => {
      try {
        return (await fetch(`${monitorUrl}/healthz`, { signal: AbortSignal.timeout(1_000) })).ok
      } catch {
        return false
      }
    }),
  )
  return answers.every(Boolean)
}
