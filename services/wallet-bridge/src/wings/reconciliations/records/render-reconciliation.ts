import type {
  reconciliationSchema,
  reconciliationSummarySchema,
} from '@pitboss/contracts/objects/reconciliation'
import type { z } from 'zod'
import type { ReconciliationDocument } from '../storage/reconciliation-store.ts'

/** The public record of a reconciliation without its differences. Source: docs/contract.md, section 3. */
export function toReconciliationSummary(
  document: Omit<ReconciliationDocument, 'differences'>,
): z.infer<typeof reconciliationSummarySchema> {
  const { counts } = document
  return {
    reconciliation_id: document._id,
    status: document.status,
    reason: document.reason,
    from: document.from.toISOString(),
    to: document.to.toISOString(),
    lines_total: document.linesTotal,
    lines: document.lines,
    matched: document.matched,
    differences_total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    counts,
    created_at: document.createdAt.toISOString(),
    finished_at: document.finishedAt?.toISOString() ?? null,
  }
}

export function toReconciliation(document: ReconciliationDocument): z.infer<typeof reconciliationSchema> {
  return { ...toReconciliationSummary(document), differences: [...document.differences] }
}
