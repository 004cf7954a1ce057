import type { ActedBy } from '@pitboss/contracts/audit'
import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import { invalidField } from '@pitboss/errors/service-error'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { cancelJob, jobUnderWay, newJob } from '@pitboss/storage/job-store'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { WalletContext } from '../context.ts'
import { toReconciliationSummary } from '../records/render-reconciliation.ts'
import { walletKeyOf } from '../rules/movement-keys.ts'
import { tallyDifferences } from './tally-differences.ts'
import type { LedgerLine } from '../storage/ledger-chunks.ts'
import type { ReconciliationDocument } from '../storage/reconciliation-store.ts'

const cancelledText = 'A person cancelled it; the lines left were not compared.'

/** @throws ServiceError NOT_FOUND */
export async function findReconciliation(
  { reconciliations }: WalletContext,
  caller: Caller,
  id: string,
): Promise<ReconciliationDocument> {
  return findInScopes(lookupScopes(caller), (scope) => reconciliations.find(scope, walletKeyOf(scope), id))
}

/** Keeps a chunk of a ledger. @throws ServiceError CONFLICT at the first one while a job runs */
export async function keepChunk(
  { reconciliations, chunks, clock }: WalletContext,
  scope: Scope,
  id: string,
  index: number,
  lines: LedgerLine[],
): Promise<void> {
  const running = index === 0 ? await reconciliations.findRunning(scope, walletKeyOf(scope)) : null
  if (running !== null) throw jobUnderWay('reconciliation', running)
  await chunks.keep(scope, id, index, lines, clock.now())
}

/**
 * Orders the comparison of the stored chunks. Source: docs/contract.md, section 3. @throws ServiceError
 * CONFLICT while one of the environment runs; VALIDATION_ERROR for a wrong window or missing chunks
 */
export async function startReconciliation(
  { reconciliations, chunks, audit, clock, wake }: WalletContext,
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
  const after = toReconciliationSummary(job)
  const entry = audit.entry(by, { act: 'reconciliation.start', object, before: null, after })
  if (!(await reconciliations.insert({ ...job, ...auditedInsert(entry) })))
    throw jobUnderWay('reconciliation', await reconciliations.findRunning(scope, walletKeyOf(scope)))
  wake.reconciler()
  return job
}

/** Ends a comparison and its ledger, which is else gone within a day. @throws ServiceError NOT_FOUND */
export async function cancelReconciliation(
  context: WalletContext,
  caller: Caller,
  id: string,
  by: ActedBy,
): Promise<ReconciliationDocument> {
  const { reconciliations, chunks, audit, clock } = context
  const job = await findReconciliation(context, caller, id)
  const object = { type: 'reconciliation', id }
  const before = toReconciliationSummary(job)
  const end = { reason: cancelledText }
  const ended = await cancelJob(reconciliations, job, end, clock.now(), (after) =>
    audit.entry(by, {
      ...{ act: 'reconciliation.cancel', object },
      ...{ before, after: toReconciliationSummary(after) },
    }),
  )
  if (ended.status === 'CANCELLED') await chunks.remove(ended, id)
  return ended
}

/** Newest first, without differences. @throws ServiceError VALIDATION_ERROR for a bad cursor */
export async function listReconciliations(
  { reconciliations, cursors }: WalletContext,
  scope: Scope,
  query: PageQuery,
) {
  return readPage({
    cursors,
    binding: ['reconciliations', walletKeyOf(scope)],
    query,
    read: (before, limit) =>
      reconciliations.list(scope, walletKeyOf(scope), { before, limit }, 'differences'),
    positionOf: ({ _id }) => _id,
  })
}
