import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { type Bus, connectBus } from '@pitboss/bus/connect-bus'
import { connectStorage, type Storage } from '@pitboss/storage/connect-storage'
import { serveTestKeys, signCalls } from '@pitboss/testing/sign-calls'
import pino from 'pino'
import type { Cleanup } from './cleanup.ts'
import { type BenchEngines, startEngines } from './start-engines.ts'
import { temporaryFolder } from './temporary-folder.ts'

const databasePrefix = 'bench'

export type ServiceWorld = {
  engines: BenchEngines
  bus: Bus
  /** The database of the service. */
  storage: Storage
  /** Starts the service as a process of its own. */
  startService(): void
}

/**
 * Engines with their streams and an empty database, for one service alone where its part is all that is
 * measured.
 */
export async function createServiceWorld({
  service,
  environment,
  cleanup,
}: {
  service: 'webhooks' | 'wallet-bridge'
  environment: Readonly<Record<string, string>>
  cleanup: Cleanup
}): Promise<ServiceWorld> {
  const main = fileURLToPath(new URL(`../../../../services/${service}/src/main.ts`, import.meta.url))
  const folder = temporaryFolder(`bench-${service}`, cleanup)
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const logger = pino({ level: 'warn' }, pino.destination(2))
  const plainBus = await connectBus({ url: engines.natsUrl.product, service: 'bench', logger })
  cleanup.add(() => plainBus.close())
  const { sign } = await serveTestKeys(plainBus)
  const bus = signCalls(plainBus, sign)
  await applyTopology(bus.nc, { replicas: 1 })
  const storage = await connectStorage({
    url: engines.mongodbUrl,
    database: `${databasePrefix}_${service.replaceAll('-', '_')}`,
    logger,
  })
  cleanup.add(() => storage.close())
  return {
    engines,
    bus,
    storage,
    startService() {
      const child = spawn(process.execPath, [main], {
        env: {
          PATH: process.env.PATH,
          NATS_URL: engines.natsUrl.product,
          MONGODB_URL: engines.mongodbUrl,
          PITBOSS_DATABASE_PREFIX: databasePrefix,
          PITBOSS_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
          PITBOSS_PROBE_PORT: '0',
          ...environment,
        },
        // its lines are written as anywhere, and read by nobody
        stdio: ['ignore', 'ignore', 'inherit'],
        detached: true,
      })
      cleanup.add(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const exited = once(child, 'exit')
        child.kill('SIGTERM')
        await exited
      })
    },
  }
}
