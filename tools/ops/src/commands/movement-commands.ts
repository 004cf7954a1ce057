import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { opsShowOperator } from '@pitboss/contracts/calls/auth-ops'
import {
  opsListMovements,
  opsMovementFacts,
  opsResolveMovement,
  opsShowMovement,
} from '@pitboss/contracts/calls/wallet-ops'
import { explain } from '@pitboss/contracts/explain'
import { movementStatus } from '@pitboss/contracts/objects/movement'
import { opsReconcileChunk, opsReconcileOurs } from '@pitboss/contracts/calls/wallet'
import { type Difference, diffLedger, type Finding, type LedgerSummary } from '@pitboss/ledger/diff-ledger'
import { type LedgerLine, readLedger } from '@pitboss/ledger/ledger-lines'
import { newId } from '@pitboss/runtime/new-id'
import { type Command, Option } from 'commander'
import { needsReason, onRun, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { fieldTable, type Progress, textTable } from '../output.ts'
import { readCount, readDuration, readInstant } from '../read-flags.ts'
import { accountOf, withAccount } from '../account-flags.ts'
import { UsageError } from '../failures.ts'
import { whyText } from '../why-text.ts'
import { addRestoredMovements } from './restored-movements.ts'

/**
 * `movement list|show|resolve`, docs/contract.md, section 10; `movement why`, `movement restored` and
 * `movement diff` are ours.
 */
export function movementCommands(program: Command): void {
  const noun = program.command('movement').description('money on its way')
  const list = withCommonFlags(noun.command('list'))
    .addOption(new Option('--status <status>').choices(movementStatus.options))
    .option('--older-than <duration>', 'such as 5m', readDuration)
    .option('--limit <count>', 'at most 1000', readCount(1000), 100)
  onRun(list, async ({ bus, show }, flags) => {
    const { data } = await bus.call(opsListMovements, {
      status: flags.status ?? null,
      olderThanS: flags.olderThan ?? null,
      limit: flags.limit,
    })
    const columns = [
      'reference',
      'type',
      'status',
      'amount',
      'currency',
      'age_s',
      'next_attempt_at',
      'operator_id',
    ]
    show(data, textTable(data, columns))
  })
  const show = withCommonFlags(
    noun.command('show <reference>').description('by reference (txn_…) or transaction id'),
  )
  onRun(show, async ({ bus, show }, reference: string) => {
    const record = await bus.call(opsShowMovement, { reference })
    show(record, `${fieldTable(record.movement)}\n\n${textTable(record.attempts)}`)
  })
  const why = withCommonFlags(
    noun.command('why <reference>').description('how it stands, and why it is not over yet'),
  )
  onRun(why, async ({ bus, show }, reference: string) => {
    const { data } = await bus.call(opsMovementFacts, { reference })
    const now = new Date()
    const told = data.map((facts) => ({
      movement: facts.movement,
      waiting_for: explain({ kind: 'movement', facts }, now),
    }))
    const text = told.map(({ movement: { type, transaction_id: id, status }, waiting_for: sentences }) =>
      whyText(`${type} ${id}  ${status}`, sentences),
    )
    show(told[0], text.join('\n'))
  })
  const resolve = withChangeFlags(
    noun.command('resolve <reference>').description("end an owed movement by a person's word"),
  ).addOption(new Option('--as <end>').choices(['success', 'failed'] as const).makeOptionMandatory())
  needsReason(resolve)
  onRun(resolve, async ({ bus, order, show, confirm }, reference: string, flags) => {
    await confirm(`End ${reference} as ${flags.as}? Nobody will try it again.`)
    const record = await bus.call(opsResolveMovement, { order, reference, as: flags.as })
    show(record, `${record.reference}: ${record.status}`)
  })
  addRestoredMovements(noun)
  const diff = withAccount(
    withCommonFlags(
      noun
        .command('diff <ledger>')
        .description(
          "compare an operator's wallet ledger, a file of JSON lines or CSV (.csv) or - for stdin, with ours",
        ),
    ),
  )
    .requiredOption('--from <time>', 'of our movements, inclusive', readInstant)
    .requiredOption('--to <time>', 'of our movements, inclusive', readInstant)
    .addOption(new Option('--format <format>', 'unless told by .csv').choices(['json-lines', 'csv'] as const))
  onRun(diff, async ({ bus, show, follow }, path: string, flags) => {
    const scope = accountOf(flags)
    if (flags.from > flags.to) throw new UsageError('--from must not be after --to')
    if (path !== '-') await readable(path)
    await bus.call(opsShowOperator, { operator: flags.operator })
    const lines = readLedger(
      path === '-' ? process.stdin : createReadStream(path),
      flags.format ?? (path.endsWith('.csv') ? 'csv' : 'json-lines'),
    )
    const window = { scope, from: flags.from, to: flags.to }
    const context = { requestId: newId('req') }
    const calls = { bus, chunk: opsReconcileChunk, ours: opsReconcileOurs, context }
    const { differences, summary } = await follow(null, (progress) =>
      collect(diffLedger(calls, window, counted(lines, progress))),
    )
    show({ summary, differences }, describe(differences, summary))
  })
}

/** Kept in memory and printed at most; all are counted. */
const differencesMax = 10_000
const linesPerTell = 1000

async function readable(path: string): Promise<void> {
  if (!(await stat(path).catch(() => null))?.isFile())
    throw new UsageError(`${path} is no file that can be read`)
}

/** The same lines; tells how many went by. */
async function* counted(lines: AsyncIterable<LedgerLine>, progress: Progress): AsyncGenerator<LedgerLine> {
  let read = 0
  for await (const line of lines) {
    read += 1
    if (read % linesPerTell === 0) progress.tell(read, `${read} lines read`)
    yield line
  }
}

async function collect(findings: AsyncIterable<Finding>) {
  const differences: Difference[] = []
  let summary: LedgerSummary | null = null
  for await (const finding of findings) {
    if ('summary' in finding) summary = finding.summary
    else if (differences.length < differencesMax) differences.push(finding)
  }
  if (summary === null) throw new Error('the comparison ended without a summary')
  return { differences, summary }
}

function describe(differences: readonly Difference[], summary: LedgerSummary): string {
  const rows = differences.map(({ kind, transaction_id, line, fields }) => ({
    kind,
    movement: transaction_id ?? `line ${String(line)}`,
    fields: JSON.stringify(fields ?? []),
  }))
  const cut = summary.differences > rows.length ? `, the first ${rows.length} are shown` : ''
  const total = `${summary.lines} lines, ${summary.matched} match, ${summary.differences} differ${cut}`
  return rows.length === 0 ? total : `${textTable(rows)}\n\n${total}`
}
