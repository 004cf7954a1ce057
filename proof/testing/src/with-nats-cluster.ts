import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNatsCluster } from './start-nats-cluster.ts'

/** Three servers of one suite; `servers[i].pid()` is there to be killed. */
export type SuiteNatsCluster = {
  /** All three, by commas, with user and password. */
  natsUrl: string
  user: string
  password: string
  servers: readonly { url: string; monitorUrl: string; pid: () => number }[]
}

type Teardown = { teardown(fn: () => void | Promise<void>): void }

const user = 'suite'
const password = 't'

/**
 * Gives a test suite a NATS cluster of three servers on loopback, with one account and JetStream that keeps
 * three replicas. A killed server comes back by itself. It takes a few seconds, so only suites about replicas
 * ask for it.
 */
export async function withNatsCluster(t: Teardown): Promise<SuiteNatsCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'pitboss-cluster-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const accounts = [{ name: 'SUITE', users: [{ name: user, password }] }]
  const cluster = await startNatsCluster({ dataDir: folder, accounts })
  t.teardown(() => cluster.stop())
  return {
    natsUrl: cluster.url.replaceAll('nats://', `nats://${user}:${password}@`),
    user,
    password,
    servers: cluster.servers,
  }
}
