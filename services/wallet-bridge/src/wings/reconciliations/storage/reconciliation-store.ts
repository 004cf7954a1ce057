import type { KeptDifference } from '@pitboss/contracts/objects/reconciliation'
import { createJobStore, type JobDocument } from '@pitboss/storage/job-store'
import type { Db } from 'mongodb'

/** The comparison of a ledger that was sent; `subject` is the key of the account's environment. */
export type ReconciliationDocument = JobDocument & {
  readonly from: Date
  readonly to: Date
  /** How much was sent. */
  readonly chunks: number
  readonly linesTotal: number
  readonly lines: number
  readonly matched: number
  readonly counts: Readonly<Record<KeptDifference['kind'], number>>
  /** The first of each kind. */
  readonly differences: readonly KeptDifference[]
  readonly reason: string | null
}

export function createReconciliations(db: Db) {
  return createJobStore(db.collection<ReconciliationDocument>('reconciliations'), 'differences')
}
