import { jobIndexes } from '@pitboss/storage/job-store'
import { openJobs } from '@pitboss/storage/jobs'
import type { Wing } from '../../wing.ts'
import { runReconciliation } from './actions/run-reconciliation.ts'
import { reconciliationCalls } from './calls/reconciliations.ts'
import type { ReconciliationContext } from './context.ts'
import { toReconciliationSummary } from './records/render-reconciliation.ts'
import { createLedgerChunks, ledgerChunkIndexes } from './storage/ledger-chunks.ts'
import { createReconciliations } from './storage/reconciliation-store.ts'

/** Each reads thousands of movements; more orders wait their turn. */
const placesMax = 2
const cancelledText = 'A person cancelled it; the lines left were not compared.'

/** Comparisons of operators' ledgers with our movements. Source: docs/contract.md, section 3. */
export const reconciliations: Wing = {
  indexes: { reconciliations: jobIndexes, ledger_chunks: ledgerChunkIndexes },
  audited: ['reconciliations'],
  open(core, { db, clockAheadMs }) {
    const context: ReconciliationContext = {
      ...{ ...core, chunks: createLedgerChunks(db) },
      reconciliations: openJobs({
        ...{ store: createReconciliations(db), kind: 'reconciliation' },
        ...{ summary: toReconciliationSummary, cancelled: () => ({ reason: cancelledText }) },
        ...{ ...core, placesMax, clockAheadMs },
      }),
    }
    return {
      calls: reconciliationCalls(context),
      start: () => context.reconciliations.start((held) => runReconciliation(context, held)),
    }
  },
}
