import { createLogger } from '@pitboss/runtime/create-logger'
import { loadConfig } from '@pitboss/runtime/load-config'
import { runService } from '@pitboss/runtime/run-service'
import { startWebhooks } from './app.ts'
import { configSchema } from './config.ts'

const config = loadConfig(configSchema)
const logger = createLogger({ service: 'webhooks', level: config.PITBOSS_LOG_LEVEL })
await runService({
  name: 'webhooks',
  logger,
  probeHost: config.PITBOSS_PROBE_HOST,
  probePort: config.PITBOSS_PROBE_PORT,
  start: (host) => startWebhooks({ config, host }),
})
