import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { keepLedgerChunk, startReconciliation as startCall } from '@pitboss/contracts/calls/reconciliations'
import * as endpoints from '@pitboss/contracts/endpoints/reconciliations'
import { answerPage } from '@pitboss/storage/read-page'
import * as reconciliations from '../actions/keep-reconciliations.ts'
import type { WalletContext } from '../context.ts'
import { toReconciliation, toReconciliationSummary } from '../records/render-reconciliation.ts'

/** What people ask about comparisons of their ledgers. Source: docs/contract.md, section 3. */
export function reconciliationCalls(context: WalletContext): CallHandler[] {
  return [
    handler(keepLedgerChunk, async ({ caller, id, index, lines }) => {
      await reconciliations.keepChunk(context, caller.scope, id, index, lines)
      return null
    }),
    handler(startCall, async ({ caller, ...asked }, call) => {
      const by = actedBy(caller, call)
      return toReconciliation(await reconciliations.startReconciliation(context, caller.scope, asked, by))
    }),
    handler(endpoints.listReconciliations.call, async ({ caller, query }) =>
      answerPage(
        await reconciliations.listReconciliations(context, caller.scope, query),
        toReconciliationSummary,
      ),
    ),
    handler(endpoints.getReconciliation.call, async ({ caller, params }) =>
      answer(
        toReconciliation(await reconciliations.findReconciliation(context, caller, params.reconciliation_id)),
      ),
    ),
    handler(endpoints.cancelReconciliation.call, async ({ caller, params }, call) => {
      const by = actedBy(caller, call)
      const id = params.reconciliation_id
      return answer(toReconciliation(await reconciliations.cancelReconciliation(context, caller, id, by)))
    }),
  ]
}
