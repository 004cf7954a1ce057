import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { type Bus, connectBus } from '@pitboss/bus/connect-bus'
import { connectStorage, type Storage } from '@pitboss/storage/connect-storage'
import pino from 'pino'
import type { Cleanup } from '../harness/cleanup.ts'
import { startEngines } from '../harness/start-engines.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'

const main = fileURLToPath(new URL('../../../services/webhooks/src/main.ts', import.meta.url))
const databasePrefix = 'bench'

export type WebhooksWorld = {
  kinds: object
  natsUrl: string
  mongodbUrl: string
  bus: Bus
  /** The database of the webhooks service. */
  storage: Storage
  /** Starts the webhooks service as a process of its own. */
  startService(): void
}

/** Engines with their streams and an empty database; the webhooks service alone where its part is all that is measured. */
export async function createWorld(cleanup: Cleanup): Promise<WebhooksWorld> {
  const folder = temporaryFolder('bench-webhooks', cleanup)
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const natsUrl = engines.natsUrl.product
  const logger = pino({ level: 'warn' }, pino.destination(2))
  const bus = await connectBus({ url: natsUrl, service: 'bench', logger })
  cleanup.add(() => bus.close())
  await applyTopology(bus.nc, { replicas: 1 })
  const storage = await connectStorage({
    url: engines.mongodbUrl,
    database: `${databasePrefix}_webhooks`,
    logger,
  })
  cleanup.add(() => storage.close())
  return {
    kinds: engines.kinds,
    natsUrl,
    mongodbUrl: engines.mongodbUrl,
    bus,
    storage,
    startService() {
      const child = spawn(process.execPath, [main], {
        env: {
          PATH: process.env.PATH,
          NATS_URL: natsUrl,
          MONGODB_URL: engines.mongodbUrl,
          PITBOSS_DATABASE_PREFIX: databasePrefix,
          PITBOSS_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
          PITBOSS_ALLOW_LOOPBACK_WEBHOOKS: 'yes',
          PITBOSS_PROBE_PORT: '0',
          PITBOSS_LOG_LEVEL: 'error',
        },
        stdio: ['ignore', 'inherit', 'inherit'],
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
