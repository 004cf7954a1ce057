import { bootService } from '@pitboss/runtime/run-service'
import { startWalletBridge } from './app.ts'
import { walletBridgeConfig } from './config.ts'

await bootService({ name: 'wallet-bridge', schema: walletBridgeConfig, start: startWalletBridge })
