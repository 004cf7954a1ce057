import { bootService } from '@pitboss/runtime/run-service'
import { runIndexVerb } from '@pitboss/storage/run-index-verb'
import { startWalletBridge } from './app.ts'
import { walletBridgeConfig } from './config.ts'
import { indexes } from './storage/indexes.ts'

const args = process.argv.slice(2)
if (args.length > 0) process.exitCode = await runIndexVerb({ service: 'wallet-bridge', indexes, args })
else await bootService({ name: 'wallet-bridge', schema: walletBridgeConfig, start: startWalletBridge })
