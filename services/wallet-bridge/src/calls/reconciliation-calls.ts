import { reconcileChunk, reconcileOurs } from '@pitboss/contracts/calls/wallet'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { AmountError, formatAmount, parseAmount } from '@pitboss/money/amount'
import { compareLedger, type OurMovement } from '../rules/compare-ledger.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementLists } from '../storage/movement-lists.ts'

const pageSize = 1000

/** The ledger diff, in bounded chunks: what the operator's ledger says against our movements, and our movements in pages. */
export function reconciliationCalls({ lists }: { lists: MovementLists }): CallHandler[] {
  return [
    handler(reconcileChunk, async ({ scope, rows }) => {
      const ids = [...new Set(rows.map(({ transaction_id }) => transaction_id))]
      const found = await lists.byTransactionIds(scope, ids)
      const ours = new Map(found.map((document) => [document.transactionId, toOurs(document)]))
      const { differences, matched } = compareLedger(rows, ours, normalise)
      return {
        differences: differences.map((difference) => ({ ...difference, fields: [...difference.fields] })),
        matched,
      }
    }),
    handler(reconcileOurs, async ({ scope, from, to, after }) => {
      const window = { from: new Date(from), to: new Date(to) }
      const found = await lists.oldestFirst(scope, window, { after, limit: pageSize })
      const last = found.at(-1)
      const rows = found
        .map(toOurs)
        .filter(({ moved }) => moved)
        .map(({ transaction_id, type, amount, currency, player_id }) => {
          return { transaction_id, type, amount, currency, player_id: player_id ?? '' }
        })
      return { rows, next: found.length < pageSize || last === undefined ? null : last.reference }
    }),
  ]
}

/**
 * A movement moved money for certain when the wallet acknowledged it. One that was given back before the wallet answered for certain is
 * uncertain, and so is a rollback that the wallet had nothing to undo for.
 */
function toOurs(document: MovementDocument): OurMovement {
  const acknowledged =
    document.attempts.some(({ classification }) => classification === 'SUCCESS') ||
    document.status === 'SUCCESS' ||
    document.status === 'REFUNDED'
  const tombstone = document.walletCode === 'TRANSACTION_NOT_FOUND' && document.type === 'ROLLBACK'
  const moved = acknowledged && !tombstone && document.operation !== null
  return {
    transaction_id: document.transactionId,
    type: document.type,
    amount: document.amount,
    currency: document.currency,
    player_id: document.playerId,
    status: document.status,
    moved,
    uncertain: !moved && document.status !== 'FAILED',
  }
}

function normalise(amount: string, currency: string): string | null {
  try {
    return formatAmount(parseAmount(amount, currency), currency)
  } catch (error) {
    if (error instanceof AmountError) return null
    throw error
  }
}
