import { outboundDenySchema } from '@pitboss/contracts/address-range'
import { instant, loopbackWalletsConfig, serviceConfig } from '@pitboss/runtime/load-config'
import { z } from 'zod'

/** The environment variables of wallet-bridge. Source: docs/contract.md, section 9. */
export const walletBridgeConfig = z.object({
  ...serviceConfig,
  ...loopbackWalletsConfig,
  /** Networks that no wallet is called in, public ones of the installation's own included. */
  PITBOSS_OUTBOUND_DENY: outboundDenySchema,
  /** Older stakes of unknown outcome wait for a person: nothing that was restored says what was played. */
  PITBOSS_STAKES_IN_DOUBT_BEFORE: instant,
})
export type WalletBridgeConfig = z.infer<typeof walletBridgeConfig>
