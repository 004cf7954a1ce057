import { answer, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as starts from '@pitboss/contracts/calls/reconciliations'
import * as calls from '@pitboss/contracts/calls/wallet'
import { lookupScopes } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/reconciliations'
import { jobIndexes } from '@pitboss/storage/job-store'
import { openJobs } from '@pitboss/storage/jobs'
import { answerPage } from '@pitboss/storage/read-page'
import { walletKeyOf } from '../../rules/movement-keys.ts'
import type { Wing } from '../../wing.ts'
import {
  cancelReconciliation,
  runReconciliation,
  startReconciliation,
  storeChunk,
} from './actions/run-reconciliation.ts'
import { compareRows, listMoved } from './actions/reconcile-ledger.ts'
import type { ReconciliationContext } from './context.ts'
import { toReconciliation, toReconciliationSummary } from './records/render-reconciliation.ts'
import {
  createLedgerChunks,
  createReconciliations,
  ledgerChunkIndexes,
} from './storage/reconciliation-store.ts'

/** Each reads thousands of movements; more orders wait their turn. */
const placesMax = 2
const cancelledText = 'A person cancelled it; the lines left were not compared.'

/** Comparisons of operators' ledgers with our movements. Source: docs/contract.md, section 3. */
export const reconciliations: Wing = {
  indexes: { reconciliations: jobIndexes, ledger_chunks: ledgerChunkIndexes },
  audited: ['reconciliations'],
  open(core, { db, clockAheadMs }) {
    const jobs: ReconciliationContext['reconciliations'] = openJobs({
      ...{ store: createReconciliations(db), kind: 'reconciliation' },
      ...{ summary: toReconciliationSummary, cancelled: () => ({ reason: cancelledText }) },
      ...{ ...core, placesMax, clockAheadMs },
    })
    const context = { ...core, chunks: createLedgerChunks(db), reconciliations: jobs }
    return {
      calls: [
        handler(starts.keepLedgerChunk, async ({ caller, id, index, lines }) => {
          await storeChunk(context, caller.scope, id, index, lines)
          return null
        }),
        handler(starts.startReconciliation, async ({ caller, ...asked }, call) =>
          toReconciliation(await startReconciliation(context, caller.scope, asked, actedBy(caller, call))),
        ),
        handler(endpoints.listReconciliations.call, async ({ caller: { scope }, query }) =>
          answerPage(await jobs.list(scope, walletKeyOf(scope), query), toReconciliationSummary),
        ),
        handler(endpoints.getReconciliation.call, async ({ caller, params }) =>
          answer(toReconciliation(await jobs.find(lookupScopes(caller), params.reconciliation_id))),
        ),
        handler(endpoints.cancelReconciliation.call, async ({ caller, params }, call) => {
          const job = await jobs.find(lookupScopes(caller), params.reconciliation_id)
          return answer(toReconciliation(await cancelReconciliation(context, job, actedBy(caller, call))))
        }),
        ...[calls.reconcileChunk, calls.opsReconcileChunk].map((call) =>
          handler(call, ({ scope, rows }) => compareRows(context, scope, rows)),
        ),
        ...[calls.reconcileOurs, calls.opsReconcileOurs].map((call) =>
          handler(call, ({ scope, from, to, after }) =>
            listMoved(context, scope, { from: new Date(from), to: new Date(to) }, after),
          ),
        ),
      ],
      start: () => jobs.start((held) => runReconciliation(context, held)),
    }
  },
}
