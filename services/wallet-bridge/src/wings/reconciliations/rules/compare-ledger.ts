import type { reconcileChunk } from '@pitboss/contracts/calls/wallet'
import type { ledgerRow, operatorsLedgerRow } from '@pitboss/contracts/objects/reconciliation'
import { AmountError, formatAmount, parseAmount } from '@pitboss/money/amount'
import type { z } from 'zod'
import type { Ended } from '../../../rules/event-of-end.ts'
import { wasAcknowledged } from '../../../rules/movement.ts'

/** Compares an operator's own ledger with our movements. The shape of a difference is ours. */

export type LedgerRow = z.output<typeof operatorsLedgerRow>

type OurMovement = z.output<typeof ledgerRow> & {
  readonly status: string
  readonly wallet_code: string | null
  /** The wallet has certainly moved money for it. */
  readonly moved: boolean
  /** The wallet may have moved money for it: it is pending, or was given back without a certain answer. */
  readonly uncertain: boolean
}

/** `extra`: we have no movement for the operator's row, or a refused one. `different`: other values. */
type Outcome = { differences: LedgerDifference[]; matched: number }
type LedgerDifference = z.output<typeof reconcileChunk.reply>['differences'][number]

type RecordedMovement = Ended & {
  readonly [Field in 'transactionId' | 'amount' | 'currency' | 'playerId']: string
}

/**
 * A movement certainly moved money when the wallet acknowledged it; a rollback only when its original was
 * acknowledged, too. It is uncertain when it was given back before a certain answer, also beside a refusal,
 * and when it is a rollback of what the wallet may never have had. @param original of a rollback
 */
export function toOurMovement(movement: RecordedMovement, original?: RecordedMovement): OurMovement {
  const isTombstone = movement.walletCode === 'TRANSACTION_NOT_FOUND'
  const gaveBack = !isTombstone && original !== undefined && wasAcknowledged(original)
  const moved = wasAcknowledged(movement) && (movement.type !== 'ROLLBACK' || gaveBack)
  return {
    transaction_id: movement.transactionId,
    type: movement.type,
    amount: movement.amount,
    currency: movement.currency,
    player_id: movement.playerId,
    status: movement.status,
    wallet_code: movement.walletCode,
    moved,
    uncertain: !moved && (movement.status !== 'FAILED' || movement.reversal?.ofRefused === true),
  }
}

export function compareLedger(rows: readonly LedgerRow[], ours: ReadonlyMap<string, OurMovement>): Outcome {
  const differences: LedgerDifference[] = []
  const seen = new Set<string>()
  let matched = 0
  for (const row of rows) {
    const difference = seen.has(row.transaction_id)
      ? { kind: 'duplicate' as const, transaction_id: row.transaction_id, fields: [] }
      : compareRow(row, ours.get(row.transaction_id))
    seen.add(row.transaction_id)
    if (difference === null) matched += 1
    else differences.push(difference)
  }
  return { differences, matched }
}

function compareRow(row: LedgerRow, our: OurMovement | undefined): LedgerDifference | null {
  const { transaction_id } = row
  if (our === undefined) return { kind: 'extra', transaction_id, fields: [] }
  if (!our.moved && !our.uncertain) {
    const fields = [
      { field: 'status', ours: our.status, theirs: 'in the ledger' },
      ...(our.wallet_code === null ? [] : [{ field: 'wallet_code', ours: our.wallet_code, theirs: null }]),
    ]
    return { kind: 'extra', transaction_id, fields }
  }
  const theirs = { ...row, amount: withAllDecimals(row.amount, row.currency) }
  const fields = (['type', 'amount', 'currency', 'player_id'] as const)
    .filter((field) => theirs[field] !== null && theirs[field] !== our[field])
    .map((field) => ({ field, ours: our[field], theirs: row[field] }))
  return fields.length === 0 ? null : { kind: 'different', transaction_id, fields }
}

/** An amount with all decimals of its currency; one that the currency cannot have stays as it is. */
function withAllDecimals(amount: string, currency: string): string {
  try {
    return formatAmount(parseAmount(amount, currency), currency)
  } catch (error) {
    if (error instanceof AmountError) return amount
    throw error
  }
}
