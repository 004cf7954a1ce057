import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { keepLedgerChunk, startReconciliation as startCall } from '@pitboss/contracts/calls/reconciliations'
import * as endpoints from '@pitboss/contracts/endpoints/reconciliations'
import { answerPage } from '@pitboss/storage/read-page'
import * as reconciliations from '../actions/keep-reconciliations.ts'
import type { WalletContext } from '../context.ts'
import { toReconciliation, toReconciliationSummary } from '../records/render-reconciliation.ts'
import { dashboardScope, scopesOf } from './dashboard-scope.ts'

/** What people ask about comparisons of their ledgers. Source: docs/contract.md, section 3. */
export function reconciliationCalls(context: WalletContext): CallHandler[] {
  return [
    handler(keepLedgerChunk, async ({ caller, id, index, lines }) => {
      await reconciliations.keepChunk(context, caller.scope, id, index, lines)
      return null
    }),
    handler(startCall, async ({ caller, ...asked }, call) =>
      toReconciliation(
        await reconciliations.startReconciliation(context, caller.scope, asked, actedBy(caller, call)),
      ),
    ),
    handler(endpoints.listReconciliations.call, async ({ caller, query: { environment, ...query } }) => {
      const scope = dashboardScope(caller, environment ?? 'TEST')
      return answerPage(
        await reconciliations.listReconciliations(context, scope, query),
        toReconciliationSummary,
      )
    }),
    handler(endpoints.getReconciliation.call, async ({ caller, params, query }) => {
      const scopes = scopesOf(caller, query.environment)
      const found = await reconciliations.findReconciliation(context, scopes, params.reconciliation_id)
      return { status: 200, body: toReconciliation(found) }
    }),
    handler(endpoints.cancelReconciliation.call, async ({ caller, params, query }, call) => {
      const scopes = scopesOf(caller, query.environment)
      const by = actedBy(caller, call)
      const job = await reconciliations.cancelReconciliation(context, scopes, params.reconciliation_id, by)
      return { status: 200, body: toReconciliation(job) }
    }),
  ]
}
