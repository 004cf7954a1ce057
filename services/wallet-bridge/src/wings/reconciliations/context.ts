import type { Jobs } from '@pitboss/storage/jobs'
import type { WalletContext } from '../../context.ts'
import type { LedgerChunks, ReconciliationDocument } from './storage/reconciliation-store.ts'

export type ReconciliationContext = WalletContext & {
  readonly reconciliations: Jobs<ReconciliationDocument, 'differences'>
  readonly chunks: LedgerChunks
}
