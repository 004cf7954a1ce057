import type { KeptDifference } from '@pitboss/contracts/objects/reconciliation'
import { type JobDocument, createJobStore } from '@pitboss/storage/job-store'
import type { Db } from 'mongodb'
import { type Scope, scopeOf } from '@pitboss/contracts/caller'
import type { ledgerLineSchema } from '@pitboss/contracts/calls/reconciliations'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { z } from 'zod'

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

export type LedgerLine = z.infer<typeof ledgerLineSchema>

type ChunkDocument = Scope & {
  /** `<id of the reconciliation>:<index in five digits>`, so that the order of ids is the ledger's. */
  readonly _id: string
  readonly lines: readonly LedgerLine[]
  readonly createdAt: Date
}

export type LedgerChunks = ReturnType<typeof createLedgerChunks>

/** Time to retain a ledger that was sent in part, or whose job never ends. */
const keptS = 24 * 60 * 60

export const ledgerChunkIndexes: readonly IndexDeclaration[] = [
  { key: { createdAt: 1 }, name: 'one_day', expireAfterSeconds: keptS },
]

/** The collection `ledger_chunks`: ledgers of operators, in pieces, until they have been compared. */
export function createLedgerChunks(db: Db) {
  const chunks = db.collection<ChunkDocument>('ledger_chunks')
  const idOf = (id: string, index: number) => `${id}:${String(index).padStart(5, '0')}`
  const of = (scope: Scope, id: string) => ({ _id: { $gte: `${id}:`, $lt: `${id};` }, ...scopeOf(scope) })
  return {
    /** Keeps a chunk; the same one again changes nothing. */
    async keep(scope: Scope, id: string, index: number, lines: LedgerLine[], now: Date) {
      const one = { _id: idOf(id, index), ...scopeOf(scope) }
      await chunks.updateOne(one, { $setOnInsert: { lines, createdAt: now } }, { upsert: true })
    },
    count: (scope: Scope, id: string): Promise<number> => chunks.countDocuments(of(scope, id)),
    /** The lines of one chunk; null when it is not there. */
    async read(scope: Scope, id: string, index: number) {
      return (await chunks.findOne({ _id: idOf(id, index), ...scopeOf(scope) }))?.lines ?? null
    },
    async remove(scope: Scope, id: string): Promise<void> {
      await chunks.deleteMany(of(scope, id))
    },
  }
}
