import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { reconcileChunk, reconcileOurs } from '@pitboss/contracts/calls/wallet'
import type { ReconcileLedger } from '../actions/reconcile-ledger.ts'

/**
 * The calls with which the gateway compares an operator's own ledger with our movements, in bounded chunks.
 */
export function reconciliationCalls({ reconcile }: { reconcile: ReconcileLedger }): CallHandler[] {
  return [
    handler(reconcileChunk, ({ scope, rows }) => reconcile.compare(scope, rows)),
    handler(reconcileOurs, ({ scope, from, to, after }) =>
      reconcile.ours(scope, { from: new Date(from), to: new Date(to) }, after),
    ),
  ]
}
