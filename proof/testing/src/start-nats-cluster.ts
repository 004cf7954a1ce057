import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { cacheFolder } from '@pitboss/engines/engine-settings'
import { type EngineLogger, silentLogger } from '@pitboss/engines/processes/engine-process'
import { createProgress, type Progress } from '@pitboss/engines/fetch/progress'
import { freePort } from '@pitboss/engines/processes/free-port'
import { EngineError } from '@pitboss/engines/engine-error'
import { waitUntil } from '@pitboss/engines/processes/wait-until'
import { chooseNats } from '@pitboss/engines/nats/choose-nats'
import { type NatsAccount, withUserSeeds, writeUserSeeds } from '@pitboss/engines/nats/nats-configuration'
import { type RunningNats, runNatsServer } from '@pitboss/engines/nats/run-nats-server'

export type NatsClusterEngine = {
  /** Addresses of all servers, separated by commas. */
  url: string
  servers: readonly RunningNats[]
  /** The seed of each user without a password, the same on every server. */
  seeds: Record<string, string>
  stop: () => Promise<void>
}

const serverCount = 3
const electionTimeoutMs = 30_000

/**
 * Runs three servers of one cluster on loopback and waits until they have elected a JetStream leader, so that
 * streams with three replicas can be made. A user without a password has the same key on every server.
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
  const folders = Array.from({ length: serverCount }, (_, index) => join(dataDir, `n${index + 1}`))
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o755 })
  const { seeds } = withUserSeeds(String(folders[0]), accounts)
  if (Object.keys(seeds).length > 0) for (const folder of folders) writeUserSeeds(folder, seeds)
  const ports = await Promise.all(Array.from({ length: serverCount }, () => freePort()))
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`)
  const results = await Promise.allSettled(
    ports.map((port, index) => {
      const serverName = `n${index + 1}`
      const cluster = { name: 'pitboss', port, routes }
      return runNatsServer({
        program,
        dataDir: folders[index] ?? dataDir,
        accounts,
        serverName,
        cluster,
        logger,
      })
    }),
  )
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  const failed = results.find((result) => result.status === 'rejected')
  const elected =
    failed === undefined &&
    (await waitUntil(() => isElected(servers), { timeoutMs: electionTimeoutMs, everyMs: 50 }))
  if (elected) return { url: servers.map(({ url }) => url).join(','), servers, seeds, stop }
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
