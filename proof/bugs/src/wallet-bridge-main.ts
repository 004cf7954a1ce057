import { startWalletBridge } from '@pitboss/wallet-bridge/app'
import { walletBridgeConfig } from '@pitboss/wallet-bridge/config'
import { bootService } from '@pitboss/runtime/run-service'
import { bugOfProcess } from './bugs.ts'
import { walletBridgeWith } from './wallet-bridge-bugs.ts'

/** The wallet-bridge service with the bug that `PITBOSS_BUG` names. */
const wrap = walletBridgeWith(bugOfProcess())
await bootService({
  name: 'wallet-bridge',
  schema: walletBridgeConfig,
  start: (given) => startWalletBridge({ ...given, wrap }),
})
