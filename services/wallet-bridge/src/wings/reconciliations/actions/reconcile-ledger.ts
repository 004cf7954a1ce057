import type { Scope } from '@pitboss/contracts/caller'
import type { WalletContext } from '../../../context.ts'
import { paidAt } from '../../../rules/event-of-end.ts'
import { compareLedger, type LedgerRow, toOurMovement } from '../rules/compare-ledger.ts'

const pageSize = 1000

export async function compareRows({ lists }: WalletContext, scope: Scope, rows: readonly LedgerRow[]) {
  const ids = [...new Set(rows.map(({ transaction_id }) => transaction_id))]
  const found = await lists.byTransactionIds(scope, ids)
  const ours = new Map(found.map((document) => [document.transactionId, toOurMovement(document)]))
  return compareLedger(rows, ours)
}

/**
 * Our movements that moved money within the window, oldest first, out of the next 1000 after the reference
 * `after`. Leaves out those asked for within it and paid later: the operator may have them in either day.
 * @returns `next` is the `after` of the next page, or null after the last one
 */
export async function listMoved(
  { lists }: WalletContext,
  scope: Scope,
  window: { from: Date; to: Date },
  after: string | null,
) {
  const found = await lists.oldestFirst(scope, window, { after, limit: pageSize })
  const last = found.at(-1)
  const ids = found.flatMap(({ type, referenceTransactionId: id }) =>
    type === 'ROLLBACK' && id !== null ? [id] : [],
  )
  const originals = new Map(
    (await lists.byTransactionIds(scope, ids)).map((document) => [document.transactionId, document]),
  )
  const rows = found
    .filter((document) => (paidAt(document) ?? window.from) <= window.to)
    .map((document) => toOurMovement(document, originals.get(document.referenceTransactionId ?? '')))
    .filter(({ moved }) => moved)
    .map(({ transaction_id, type, amount, currency, player_id }) => ({
      ...{ transaction_id, type, amount, currency, player_id },
    }))
  return { rows, next: found.length < pageSize || last === undefined ? null : last.reference }
}
