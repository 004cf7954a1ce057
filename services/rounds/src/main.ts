import { connectBus } from '@pitboss/bus/connect-bus'
import { createLogger } from '@pitboss/runtime/create-logger'
import { runService } from '@pitboss/runtime/run-service'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { startRounds } from './app.ts'
import { loadRoundsConfig } from './config.ts'

const name = 'rounds'
const config = loadRoundsConfig()
const logger = createLogger({ service: name, level: config.PITBOSS_LOG_LEVEL })

await runService({
  name,
  logger,
  probeHost: config.PITBOSS_PROBE_HOST,
  probePort: config.PITBOSS_PROBE_PORT,
  start: async (host) => {
    const storage = await connectStorage({
      url: config.MONGODB_URL,
      database: `${config.PITBOSS_DATABASE_PREFIX}_rounds`,
      logger,
    })
    const bus = await connectBus({
      url: config.NATS_URL,
      nkeySeed: config.NATS_NKEY_SEED,
      service: name,
      logger,
    })
    void bus.closed.then(() => {
      if (!host.stopping.aborted) host.fail(new Error('NATS connection closed'))
    })
    host.check('nats', () => bus.connected())
    host.check('database', () => storage.ping())
    const rounds = await startRounds({
      bus,
      storage,
      masterKeys: config.PITBOSS_MASTER_KEYS,
      timeScale: config.PITBOSS_TIME_SCALE,
      logger,
      registry: host.registry,
    })
    return {
      async stop() {
        await rounds.stop()
        await bus.close()
        await storage.close()
      },
    }
  },
})
