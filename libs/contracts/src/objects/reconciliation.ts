import { z } from 'zod'
import { count } from '../primitives.ts'

/** Comparisons of an operator's ledger with ours, as jobs. Source: docs/contract.md, section 3. */

/** A movement as both ledgers of a reconciliation tell it. */
export const ledgerRow = z.strictObject({
  transaction_id: z.string(),
  type: z.string(),
  amount: z.string(),
  currency: z.string(),
  player_id: z.string(),
})
/** A row of the operator's, which need not name the player. */
export const operatorsLedgerRow = ledgerRow.extend({ player_id: z.string().nullable() })

export const differenceKinds = ['extra', 'different', 'missing', 'duplicate', 'unreadable'] as const

/** The first differences of each kind that a job keeps; it counts all. */
export const keptOfKindMax = 100

export const keptDifferenceSchema = z.strictObject({
  kind: z.enum(differenceKinds),
  /** Line of the ledger, counted from 1; null where a difference has none. */
  line: z.int().min(1).nullable(),
  message: z.string().nullable(),
  transaction_id: z.string().nullable(),
  fields: z.array(
    z.strictObject({ field: z.string(), ours: z.string().nullable(), theirs: z.string().nullable() }),
  ),
  /** The movement that the ledger lacks. */
  ours: ledgerRow.nullable(),
})

export type KeptDifference = z.infer<typeof keptDifferenceSchema>

export const reconciliationSummarySchema = z.strictObject({
  reconciliation_id: z.string(),
  status: z.enum(['RUNNING', 'DONE', 'CANCELLED']),
  /** Why it ended early; null unless it did. */
  reason: z.string().nullable(),
  from: z.string(),
  to: z.string(),
  lines_total: count,
  /** Lines that were compared so far. */
  lines: count,
  matched: count,
  differences_total: count,
  counts: z.strictObject({
    extra: count,
    different: count,
    missing: count,
    duplicate: count,
    unreadable: count,
  }),
  created_at: z.string(),
  finished_at: z.string().nullable(),
})
export const reconciliationSchema = reconciliationSummarySchema.extend({
  differences: z.array(keptDifferenceSchema),
})
