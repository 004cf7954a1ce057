import { type KeptDifference, keptOfKindMax } from '@pitboss/contracts/objects/reconciliation'
import type { Difference } from '@pitboss/ledger/diff-ledger'

/** Counts the differences of a comparison, and keeps the first of each kind. */
export function tallyDifferences() {
  const counts: Record<KeptDifference['kind'], number> = {
    ...{ extra: 0, different: 0, missing: 0, duplicate: 0, unreadable: 0 },
  }
  const differences: KeptDifference[] = []
  return {
    counts,
    differences,
    add({ kind, line, message, transaction_id, fields, ours }: Difference): void {
      counts[kind] += 1
      if (counts[kind] > keptOfKindMax) return
      differences.push({
        ...{ kind, line: line ?? null, message: message ?? null, transaction_id: transaction_id ?? null },
        fields: fields?.map((field) => ({ ...field })) ?? [],
        ours: ours === undefined ? null : { ...ours, player_id: ours.player_id ?? '' },
      })
    },
  }
}
