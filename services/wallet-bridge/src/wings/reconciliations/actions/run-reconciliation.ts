import { type KeptDifference, keptOfKindMax } from '@pitboss/contracts/objects/reconciliation'
import { type Difference, type OurLedger, diffRows } from '@pitboss/ledger/diff-ledger'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Jobs } from '@pitboss/storage/jobs'
import type { HeldJob } from '@pitboss/storage/start-job-workers'
import type { LedgerChunks, LedgerLine, ReconciliationDocument } from '../storage/reconciliation-store.ts'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import type * as calls from '@pitboss/contracts/calls/reconciliations'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { invalidField } from '@pitboss/errors/service-error'
import { newJob } from '@pitboss/storage/job-store'
import type { RequestOf } from '@pitboss/contracts/call'
import type { WalletContext } from '../../../context.ts'
import { paidAt } from '../../../rules/event-of-end.ts'
import { compareLedger, type LedgerRow, toOurMovement } from '../rules/compare-ledger.ts'

export type ReconciliationContext = WalletContext & {
  readonly reconciliations: Jobs<ReconciliationDocument, 'differences'>
  readonly chunks: LedgerChunks
}

const pageSize = 1000
const runMaxMs = 15 * 60 * 1000
const lateText = 'It took longer than 15 minutes. Send the ledger of a shorter time.'
const goneText = 'The ledger is not kept any more. Send it again.'

/** Ends the work on a job: it goes on elsewhere, or ends with a reason. */
class Ended extends Error {
  readonly reason: string | null
  constructor(reason: string | null) {
    super(reason ?? 'the reconciliation goes on elsewhere')
    this.reason = reason
  }
}

/** Compares a held job's ledger with our movements from its start. Source: docs/contract.md, section 3. */
export async function runReconciliation(
  context: ReconciliationContext,
  { job, signal }: HeldJob<ReconciliationDocument>,
): Promise<void> {
  const { chunks, clock } = context
  const { store } = context.reconciliations
  const { from, to } = job
  const tally = tallyDifferences()
  const read = { lines: 0, matched: 0 }
  const our: OurLedger = {
    async compare(rows) {
      goOn()
      const compared = await compareRows(context, job, rows)
      read.matched += compared.matched
      if (!(await store.progress(job, { $set: { ...read, counts: tally.counts } }))) throw new Ended(null)
      await failpoint('wallet-bridge.reconciled-rows')
      return compared
    },
    ours(after) {
      goOn()
      return listMoved(context, job, { from, to, after })
    },
  }

  function goOn(): void {
    if (signal.aborted) throw new Ended(null)
    if (clock.now().getTime() - job.createdAt.getTime() > runMaxMs) throw new Ended(lateText)
  }

  async function* kept(): AsyncGenerator<LedgerLine> {
    for (let index = 0; index < job.chunks; index++) {
      const lines = await chunks.read(job, job._id, index)
      if (lines === null) throw new Ended(goneText)
      for (const line of lines) {
        read.lines += 1
        yield line
      }
    }
  }

  let reason: string | null = null
  try {
    const window = { from: from.toISOString(), to: to.toISOString() }
    for await (const finding of diffRows(our, window, kept())) if ('kind' in finding) tally.add(finding)
  } catch (error) {
    if (!(error instanceof Ended)) throw error
    if (error.reason === null) return
    reason = error.reason
  }
  const { counts, differences } = tally
  const end = { ...read, counts, differences, reason }
  if (await store.finish(job, end, clock.now())) await chunks.remove(job, job._id)
}

/** Counts the differences of a comparison, and collects the first of each kind. */
export function tallyDifferences() {
  const counts = { extra: 0, different: 0, missing: 0, duplicate: 0, unreadable: 0 }
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

/** Stores a chunk of a ledger. @throws ServiceError CONFLICT at the first one while a job runs */
export async function storeChunk(
  context: ReconciliationContext,
  chunk: RequestOf<typeof calls.keepLedgerChunk>,
) {
  const { caller, id, index, lines } = chunk
  const { scope } = caller
  if (index === 0) await context.reconciliations.assertNoneRuns(scope, scopeKey(scope))
  await context.chunks.keep(scope, id, index, lines, context.clock.now())
}

/**
 * Orders the comparison of the stored chunks. Source: docs/contract.md, section 3. @throws ServiceError
 * CONFLICT while one of the environment runs; VALIDATION_ERROR for a wrong window or missing chunks
 */
export async function startReconciliation(
  { reconciliations, chunks, clock }: ReconciliationContext,
  asked: RequestOf<typeof calls.startReconciliation>,
  call: HandlerContext,
): Promise<ReconciliationDocument> {
  const { caller, id, lines: linesTotal } = asked
  const { scope } = caller
  const [from, to] = [new Date(asked.from), new Date(asked.to)]
  if (to < from) throw invalidField('to', 'must not be before from')
  if ((await chunks.count(scope, id)) !== asked.chunks) throw invalidField('body', 'was not kept whole')
  const { counts, differences } = tallyDifferences()
  const job: ReconciliationDocument = {
    ...newJob({ id, scope, subject: scopeKey(scope), now: clock.now() }),
    ...{ from, to, chunks: asked.chunks, linesTotal, lines: 0, matched: 0, reason: null },
    ...{ counts, differences },
  }
  const object = { type: 'reconciliation', id }
  return reconciliations.order(job, actedBy(caller, call), { act: 'reconciliation.start', object })
}

/** Ends a comparison and its ledger, which is else gone within a day. */
export async function cancelReconciliation(
  c: ReconciliationContext,
  job: ReconciliationDocument,
  by: ActedBy,
) {
  const ended = await c.reconciliations.cancel(job, by)
  if (ended.status === 'CANCELLED') await c.chunks.remove(ended, ended._id)
  return ended
}

export async function compareRows({ lists }: WalletContext, scope: Scope, rows: readonly LedgerRow[]) {
  const ids = [...new Set(rows.map(({ transaction_id }) => transaction_id))]
  const found = await lists.byTransactionIds(scope, ids)
  const ours = new Map(found.map((document) => [document.transactionId, toOurMovement(document)]))
  return compareLedger(rows, ours)
}

type MovedQuery = { readonly from: Date; readonly to: Date; readonly after: string | null }

/**
 * Our movements that moved money within the window, oldest first, out of the next 1000 after `after`, the
 * `next` of the page before. One asked for within it and paid later may be in either day: it is left out.
 */
export async function listMoved({ lists }: WalletContext, scope: Scope, { after, ...window }: MovedQuery) {
  const found = await lists.oldestFirst(scope, window, { after, limit: pageSize })
  const ids = found.flatMap((one) => (one.type === 'ROLLBACK' ? (one.referenceTransactionId ?? []) : []))
  const named = (await lists.byTransactionIds(scope, ids)).map((one) => [one.transactionId, one] as const)
  const originals = new Map(named)
  const rows = found
    .filter((document) => (paidAt(document) ?? window.from) <= window.to)
    .map((document) => toOurMovement(document, originals.get(document.referenceTransactionId ?? '')))
    .filter(({ moved }) => moved)
    .map(({ transaction_id, type, amount, currency, player_id }) => ({
      ...{ transaction_id, type, amount, currency, player_id },
    }))
  return { rows, next: found.length < pageSize ? null : (found.at(-1)?.reference ?? null) }
}
