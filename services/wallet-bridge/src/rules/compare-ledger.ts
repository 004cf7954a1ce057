/** An operator's own ledger against our movements. Source: issue text of the ledger diff; the shape of a difference is ours. */

export type LedgerRow = {
  readonly transaction_id: string
  readonly type: string
  readonly amount: string
  readonly currency: string
  readonly player_id: string | null
}

export type OurMovement = LedgerRow & {
  readonly status: string
  /** The wallet has certainly moved money for it and was not told otherwise since. */
  readonly moved: boolean
  /** The wallet may have it or not: pending, or given back without a certain answer. */
  readonly uncertain: boolean
}

/** `extra`: the operator has what we do not, or what we hold for refused. `different`: both have it, with other values. */
export type LedgerDifference = {
  readonly kind: 'extra' | 'different' | 'duplicate'
  readonly transaction_id: string
  readonly fields: readonly {
    readonly field: string
    readonly ours: string | null
    readonly theirs: string | null
  }[]
}

/** Compares one chunk. `normalise` gives an amount all decimals of its currency, or null when it has none. */
export function compareLedger(
  rows: readonly LedgerRow[],
  ours: ReadonlyMap<string, OurMovement>,
  normalise: (amount: string, currency: string) => string | null,
): { differences: LedgerDifference[]; matched: number } {
  const differences: LedgerDifference[] = []
  const seen = new Set<string>()
  let matched = 0
  for (const row of rows) {
    const difference = seen.has(row.transaction_id)
      ? { kind: 'duplicate' as const, transaction_id: row.transaction_id, fields: [] }
      : compareRow(row, ours.get(row.transaction_id), normalise)
    seen.add(row.transaction_id)
    if (difference === null) matched += 1
    else differences.push(difference)
  }
  return { differences, matched }
}

function compareRow(
  row: LedgerRow,
  our: OurMovement | undefined,
  normalise: (amount: string, currency: string) => string | null,
): LedgerDifference | null {
  const { transaction_id } = row
  if (our === undefined) return { kind: 'extra', transaction_id, fields: [] }
  if (!our.moved && !our.uncertain) {
    const fields = [{ field: 'status', ours: our.status, theirs: 'in the ledger' }]
    return { kind: 'extra', transaction_id, fields }
  }
  const theirs = { ...row, amount: normalise(row.amount, row.currency) ?? row.amount }
  const fields = (['type', 'amount', 'currency', 'player_id'] as const)
    .filter((field) => theirs[field] !== null && theirs[field] !== our[field])
    .map((field) => ({ field, ours: our[field], theirs: row[field] }))
  return fields.length === 0 ? null : { kind: 'different', transaction_id, fields }
}
