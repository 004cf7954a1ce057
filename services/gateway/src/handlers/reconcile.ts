import { Readable } from 'node:stream'
import { reconcileChunk, reconcileOurs } from '@pitboss/contracts/calls/wallet'
import { toErrorEnvelope } from '@pitboss/errors/envelope'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Answer, Inbound } from '../http/inbound.ts'
import { requirePlainEncoding } from '../input/read-body.ts'
import { singleHeader } from '../input/single-header.ts'
import { reconcileQuery } from '../routes/own-shapes.ts'
import { callerOf } from './forward.ts'
import type { HandlerDeps } from './handler-deps.ts'
import { IdSet } from './id-set.ts'
import { bodyChunks, ledgerFormat, type LedgerRow, readLedger } from './ledger-lines.ts'

const rowsPerCallMax = 500
/** Findings kept until the ledger has been read, since many clients read no answer before they have sent all. */
const heldMax = 10_000
/** Each holds a set of ids in memory. */
const atOnceMax = 2

type Finding = Record<string, unknown>

/**
 * `POST /v1/reports/reconciliation?from&to`: reads the operator's ledger as JSON lines or CSV and answers, as JSON lines, what differs by `kind`:
 * `extra` and `different` as the wallet service judges rows, `unreadable` lines, `duplicate` ids, and `missing`: movements of ours that the ledger lacks.
 * The last line is `{ "summary": … }`, or `{ "error": … }` when the comparison broke off after it had begun to answer.
 */
export function createReconcile(deps: HandlerDeps): (inbound: Inbound) => Promise<Answer> {
  let atWork = 0
  return async (inbound) => {
    const { raw, context } = inbound
    const format = ledgerFormat(singleHeader(raw, 'content-type'))
    if (format === null) throw invalidField('content-type', 'must be application/x-ndjson or text/csv')
    requirePlainEncoding(raw)
    if (atWork >= atOnceMax) throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 10 })
    atWork += 1
    const leave = once(() => {
      atWork -= 1
    })
    const { from, to } = reconcileQuery.parse(inbound.query)
    const { scope } = callerOf(inbound)
    const findings = compare(
      deps,
      { scope, from, to, requestId: context.requestId },
      readLedger(bodyChunks(raw), format),
    )
    try {
      const { held, ended } = await holdFirst(findings)
      const data = Readable.from(toLines(held, ended ? none() : findings, context.requestId))
      data.once('close', leave)
      return { status: 200, content: { type: 'application/x-ndjson', data } }
    } catch (error) {
      leave()
      throw error
    }
  }
}

type Window = {
  scope: { operatorId: string; environment: 'SANDBOX' | 'LIVE' }
  from: string
  to: string
  requestId: string
}

async function* compare(
  { bus }: HandlerDeps,
  { scope, from, to, requestId }: Window,
  lines: ReturnType<typeof readLedger>,
): AsyncGenerator<Finding> {
  const theirs = new IdSet()
  const count = { lines: 0, matched: 0, differences: 0 }
  let rows: LedgerRow[] = []
  const compareRows = async () => {
    const { differences, matched } = await bus.call(reconcileChunk, { scope, rows, from, to }, { requestId })
    rows = []
    count.matched += matched
    return differences
  }
  const found = (finding: Finding) => {
    count.differences += 1
    return finding
  }
  for await (const line of lines) {
    count.lines += 1
    if (!line.ok) yield found({ kind: 'unreadable', line: line.line, message: line.message })
    else if (!theirs.add(line.row.transaction_id)) {
      yield found({ kind: 'duplicate', line: line.line, transaction_id: line.row.transaction_id, fields: [] })
    } else rows.push(line.row)
    if (rows.length >= rowsPerCallMax) for (const finding of await compareRows()) yield found(finding)
  }
  if (rows.length > 0) for (const finding of await compareRows()) yield found(finding)

  let after: string | null = null
  do {
    const page: { rows: LedgerRow[]; next: string | null } = await bus.call(
      reconcileOurs,
      { scope, from, to, after },
      { requestId },
    )
    for (const ours of page.rows) {
      const { transaction_id } = ours
      if (!theirs.has(transaction_id)) yield found({ kind: 'missing', transaction_id, fields: [], ours })
    }
    after = page.next
  } while (after !== null)
  yield { summary: { from, to, ...count } }
}

async function holdFirst(findings: AsyncGenerator<Finding>): Promise<{ held: Finding[]; ended: boolean }> {
  const held: Finding[] = []
  while (held.length < heldMax) {
    const next = await findings.next()
    if (next.done === true) return { held, ended: true }
    held.push(next.value)
  }
  return { held, ended: false }
}

async function* toLines(
  held: readonly Finding[],
  rest: AsyncGenerator<Finding>,
  requestId: string,
): AsyncGenerator<string> {
  try {
    for (const finding of held) yield `${JSON.stringify(finding)}\n`
    for await (const finding of rest) yield `${JSON.stringify(finding)}\n`
  } catch (error) {
    yield `${JSON.stringify({ error: toErrorEnvelope(error, requestId) })}\n`
  }
}

function once(fn: () => void): () => void {
  let done = false
  return () => {
    if (!done) fn()
    done = true
  }
}

async function* none(): AsyncGenerator<Finding> {}
