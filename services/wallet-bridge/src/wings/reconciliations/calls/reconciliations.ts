import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as starts from '@pitboss/contracts/calls/reconciliations'
import * as calls from '@pitboss/contracts/calls/wallet'
import { lookupScopes } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/reconciliations'
import { answerPage } from '@pitboss/storage/read-page'
import * as actions from '../actions/order-reconciliations.ts'
import { compareRows, listMoved } from '../actions/reconcile-ledger.ts'
import type { ReconciliationContext } from '../context.ts'
import { toReconciliation, toReconciliationSummary } from '../records/render-reconciliation.ts'

/** What people ask about comparisons of their ledgers, and the reads of a comparison made by others. */
export function reconciliationCalls(context: ReconciliationContext): CallHandler[] {
  const { reconciliations } = context
  return [
    handler(starts.keepLedgerChunk, async ({ caller, id, index, lines }) => {
      await actions.keepChunk(context, caller.scope, id, index, lines)
      return null
    }),
    handler(starts.startReconciliation, async ({ caller, ...asked }, call) => {
      const by = actedBy(caller, call)
      return toReconciliation(await actions.startReconciliation(context, caller.scope, asked, by))
    }),
    handler(endpoints.listReconciliations.call, async ({ caller, query }) =>
      answerPage(await actions.listReconciliations(context, caller.scope, query), toReconciliationSummary),
    ),
    handler(endpoints.getReconciliation.call, async ({ caller, params }) => {
      const found = await reconciliations.find(lookupScopes(caller), params.reconciliation_id)
      return answer(toReconciliation(found))
    }),
    handler(endpoints.cancelReconciliation.call, async ({ caller, params }, call) => {
      const job = await reconciliations.find(lookupScopes(caller), params.reconciliation_id)
      return answer(toReconciliation(await actions.cancelReconciliation(context, job, actedBy(caller, call))))
    }),
    ...[calls.reconcileChunk, calls.opsReconcileChunk].map((call) =>
      handler(call, ({ scope, rows }) => compareRows(context, scope, rows)),
    ),
    ...[calls.reconcileOurs, calls.opsReconcileOurs].map((call) =>
      handler(call, ({ scope, from, to, after }) =>
        listMoved(context, scope, { from: new Date(from), to: new Date(to) }, after),
      ),
    ),
  ]
}
