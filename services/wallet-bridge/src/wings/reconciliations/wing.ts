import { answer, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as starts from '@pitboss/contracts/calls/reconciliations'
import * as calls from '@pitboss/contracts/calls/wallet'
import { lookupScopes, scopeKey } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/reconciliations'
import { jobIndexes } from '@pitboss/storage/job-store'
import { openJobs } from '@pitboss/storage/jobs'
import { answerPage } from '@pitboss/storage/read-page'
import type { Wing } from '../../wing.ts'
import * as actions from './actions/run-reconciliation.ts'
import * as stores from './storage/reconciliation-store.ts'

/** Each reads thousands of movements; more orders wait their turn. */
const placesMax = 2
const cancelledText = 'A person cancelled it; the lines left were not compared.'

/** Comparisons of operators' ledgers with our movements. Source: docs/contract.md, section 3. */
export const reconciliations: Wing = {
  indexes: { reconciliations: jobIndexes, ledger_chunks: stores.ledgerChunkIndexes },
  audited: ['reconciliations'],
  open(core, { db, clockAheadMs }) {
    const jobs: actions.ReconciliationContext['reconciliations'] = openJobs({
      ...{ store: stores.createReconciliations(db), kind: 'reconciliation' },
      ...{ summary: toReconciliationSummary, cancelled: () => ({ reason: cancelledText }) },
      ...{ ...core, placesMax, clockAheadMs },
    })
    const context = { ...core, chunks: stores.createLedgerChunks(db), reconciliations: jobs }
    return {
      calls: [
        handler(starts.keepLedgerChunk, async (chunk) => {
          await actions.storeChunk(context, chunk)
          return null
        }),
        handler(starts.startReconciliation, async (asked, call) =>
          toReconciliation(await actions.startReconciliation(context, asked, call)),
        ),
        handler(endpoints.listReconciliations.call, async ({ caller: { scope }, query }) =>
          answerPage(await jobs.list(scope, scopeKey(scope), query), toReconciliationSummary),
        ),
        handler(endpoints.getReconciliation.call, async ({ caller, params }) =>
          answer(toReconciliation(await jobs.find(lookupScopes(caller), params.reconciliation_id))),
        ),
        handler(endpoints.cancelReconciliation.call, async ({ caller, params }, call) => {
          const job = await jobs.find(lookupScopes(caller), params.reconciliation_id)
          const ended = await actions.cancelReconciliation(context, job, actedBy(caller, call))
          return answer(toReconciliation(ended))
        }),
        ...[calls.reconcileChunk, calls.opsReconcileChunk].map((call) =>
          handler(call, ({ scope, rows }) => actions.compareRows(context, scope, rows)),
        ),
        ...[calls.reconcileOurs, calls.opsReconcileOurs].map((call) =>
          handler(call, ({ scope, from, to, after }) =>
            actions.listMoved(context, scope, { from: new Date(from), to: new Date(to), after }),
          ),
        ),
      ],
      start: () => jobs.start((held) => actions.runReconciliation(context, held)),
    }
  },
}

/** The public record of a reconciliation without its differences. Source: docs/contract.md, section 3. */
function toReconciliationSummary(document: Omit<stores.ReconciliationDocument, 'differences'>) {
  const { _id: reconciliation_id, status, reason, linesTotal, lines, matched, counts } = document
  return {
    ...{ reconciliation_id, status, reason, lines_total: linesTotal, lines, matched, counts },
    from: document.from.toISOString(),
    to: document.to.toISOString(),
    differences_total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    created_at: document.createdAt.toISOString(),
    finished_at: document.finishedAt?.toISOString() ?? null,
  }
}

function toReconciliation(document: stores.ReconciliationDocument) {
  return { ...toReconciliationSummary(document), differences: [...document.differences] }
}
