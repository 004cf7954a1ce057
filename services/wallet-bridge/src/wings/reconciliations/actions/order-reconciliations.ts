import type { ActedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import { invalidField } from '@pitboss/errors/service-error'
import { newJob } from '@pitboss/storage/job-store'
import { walletKeyOf } from '../../../rules/movement-keys.ts'
import type { ReconciliationContext } from '../context.ts'
import type { LedgerLine } from '../storage/ledger-chunks.ts'
import type { ReconciliationDocument } from '../storage/reconciliation-store.ts'
import { tallyDifferences } from './run-reconciliation.ts'

/** Stores a chunk of a ledger. @throws ServiceError CONFLICT at the first one while a job runs */
export async function storeChunk(
  { reconciliations, chunks, clock }: ReconciliationContext,
  scope: Scope,
  id: string,
  index: number,
  lines: LedgerLine[],
): Promise<void> {
  if (index === 0) await reconciliations.assertNoneRuns(scope, walletKeyOf(scope))
  await chunks.keep(scope, id, index, lines, clock.now())
}

/**
 * Orders the comparison of the stored chunks. Source: docs/contract.md, section 3. @throws ServiceError
 * CONFLICT while one of the environment runs; VALIDATION_ERROR for a wrong window or missing chunks
 */
export async function startReconciliation(
  { reconciliations, chunks, clock }: ReconciliationContext,
  scope: Scope,
  asked: { id: string; from: string; to: string; chunks: number; lines: number },
  by: ActedBy,
): Promise<ReconciliationDocument> {
  const { id, lines: linesTotal } = asked
  const [from, to] = [new Date(asked.from), new Date(asked.to)]
  if (to < from) throw invalidField('to', 'must not be before from')
  if ((await chunks.count(scope, id)) !== asked.chunks) throw invalidField('body', 'was not kept whole')
  const { counts, differences } = tallyDifferences()
  const job: ReconciliationDocument = {
    ...newJob({ id, scope, subject: walletKeyOf(scope), now: clock.now() }),
    ...{ from, to, chunks: asked.chunks, linesTotal, lines: 0, matched: 0, reason: null },
    ...{ counts, differences },
  }
  const object = { type: 'reconciliation', id }
  return reconciliations.order(job, by, { act: 'reconciliation.start', object })
}

/** Ends a comparison and its ledger, which is else gone within a day. */
export async function cancelReconciliation(
  { reconciliations, chunks }: ReconciliationContext,
  job: ReconciliationDocument,
  by: ActedBy,
): Promise<ReconciliationDocument> {
  const ended = await reconciliations.cancel(job, by)
  if (ended.status === 'CANCELLED') await chunks.remove(ended, ended._id)
  return ended
}
