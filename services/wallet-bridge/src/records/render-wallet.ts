import { toAccountMode } from '@pitboss/contracts/primitives'
import type { WalletDocument } from '../storage/wallet-document.ts'

/** The dashboard's record of a wallet, without its secret. Source: docs/contract.md, section 3. */
export function toWalletRecord(wallet: WalletDocument) {
  return {
    environment: toAccountMode(wallet.environment),
    url: wallet.url,
    timeout_ms: wallet.timeoutMs,
    settle_losses: wallet.settleLosses,
    created_at: wallet.createdAt.toISOString(),
    updated_at: wallet.updatedAt.toISOString(),
  }
}
