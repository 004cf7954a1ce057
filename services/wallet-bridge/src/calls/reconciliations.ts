import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { keepLedgerChunk, startReconciliation } from '@pitboss/contracts/calls/reconciliations'
import {
  cancelReconciliation,
  getReconciliation,
  listReconciliations,
} from '@pitboss/contracts/endpoints/reconciliations'
import { answerPage } from '@pitboss/storage/read-page'
import type { KeepReconciliations } from '../actions/keep-reconciliations.ts'
import { toReconciliation, toReconciliationSummary } from '../records/render-reconciliation.ts'
import { dashboardScope, scopesOf } from './dashboard-scope.ts'

/** What people ask about comparisons of their ledgers. Source: docs/contract.md, section 3. */
export function reconciliationCalls(reconciliations: KeepReconciliations): CallHandler[] {
  return [
    handler(keepLedgerChunk, async ({ caller, id, index, lines }) => {
      await reconciliations.keep(caller.scope, id, index, lines)
      return null
    }),
    handler(startReconciliation, async ({ caller, ...asked }, context) =>
      toReconciliation(await reconciliations.start(caller.scope, asked, actedBy(caller, context))),
    ),
    handler(listReconciliations.call, async ({ caller, query: { environment, ...query } }) =>
      answerPage(
        await reconciliations.list(dashboardScope(caller, environment ?? 'TEST'), query),
        toReconciliationSummary,
      ),
    ),
    handler(getReconciliation.call, async ({ caller, params, query }) => ({
      status: 200,
      body: toReconciliation(
        await reconciliations.find(scopesOf(caller, query.environment), params.reconciliation_id),
      ),
    })),
    handler(cancelReconciliation.call, async ({ caller, params, query }, context) => {
      const scopes = scopesOf(caller, query.environment)
      const job = await reconciliations.cancel(scopes, params.reconciliation_id, actedBy(caller, context))
      return { status: 200, body: toReconciliation(job) }
    }),
  ]
}
