import type { Jobs } from '@pitboss/storage/jobs'
import type { WalletContext } from '../../context.ts'
import type { LedgerChunks } from './storage/ledger-chunks.ts'
import type { ReconciliationDocument } from './storage/reconciliation-store.ts'

export type ReconciliationContext = WalletContext & {
  readonly reconciliations: Jobs<ReconciliationDocument, 'differences'>
  readonly chunks: LedgerChunks
}
