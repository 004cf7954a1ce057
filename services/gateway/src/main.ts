import { connectBus } from '@pitboss/bus/connect-bus'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { createLogger } from '@pitboss/runtime/create-logger'
import { loadConfig } from '@pitboss/runtime/load-config'
import { runService } from '@pitboss/runtime/run-service'
import { configSchema } from './config.ts'
import { startGateway } from './app.ts'

const config = loadConfig(configSchema)
const logger = createLogger({ service: 'gateway', level: config.PITBOSS_LOG_LEVEL })

await runService({
  name: 'gateway',
  logger,
  probeHost: config.PITBOSS_PROBE_HOST,
  probePort: config.PITBOSS_PROBE_PORT,
  async start(host) {
    const bus = await connectBus({
      url: config.NATS_URL,
      nkeySeed: config.NATS_NKEY_SEED,
      service: 'gateway',
      logger,
    })
    void bus.closed.then(() => {
      if (!host.stopping.aborted) host.fail(new Error('the NATS connection is closed'))
    })
    // No calls: it only shows itself to `ops status`.
    const presence = await serveCalls({ bus, service: 'gateway', version: '0.1.0', logger, handlers: [] })
    const gateway = await startGateway({ config, bus, logger, registry: host.registry })
    for (const name of ['nats', 'revocation-bucket', 'auth', 'rounds', 'wallet-bridge', 'webhooks']) {
      host.check(name, async () => !(await gateway.missing()).some((missing) => missing.name === name))
    }
    return {
      async stop() {
        await gateway.stop()
        await presence.stop()
        await bus.close()
      },
    }
  },
})
