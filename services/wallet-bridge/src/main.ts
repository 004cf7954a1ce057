import { createLogger } from '@pitboss/runtime/create-logger'
import { loadConfig } from '@pitboss/runtime/load-config'
import { runService } from '@pitboss/runtime/run-service'
import { startWalletBridge } from './app.ts'
import { walletBridgeConfig } from './config.ts'

const config = loadConfig(walletBridgeConfig)
const logger = createLogger({ service: 'wallet-bridge', level: config.PITBOSS_LOG_LEVEL })
await runService({
  name: 'wallet-bridge',
  logger,
  probeHost: config.PITBOSS_PROBE_HOST,
  probePort: config.PITBOSS_PROBE_PORT,
  start: (host) => startWalletBridge({ config, host }),
})
