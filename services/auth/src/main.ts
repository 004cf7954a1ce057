import { createLogger } from '@pitboss/runtime/create-logger'
import { loadConfig } from '@pitboss/runtime/load-config'
import { runService } from '@pitboss/runtime/run-service'
import { startAuth } from './app.ts'
import { authConfig } from './config.ts'

const config = loadConfig(authConfig)
const logger = createLogger({ service: 'auth', level: config.PITBOSS_LOG_LEVEL })
await runService({
  name: 'auth',
  logger,
  probeHost: config.PITBOSS_PROBE_HOST,
  probePort: config.PITBOSS_PROBE_PORT,
  start: (host) => startAuth({ config, host }),
})
