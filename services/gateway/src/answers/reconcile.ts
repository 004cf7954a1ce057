import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { toErrorEnvelope, invalidField, ServiceError } from '@pitboss/errors/service-error'
import { diffLedger, type Finding } from '@pitboss/ledger/diff-ledger'
import { type LedgerFormat, readLedger } from '@pitboss/ledger/ledger-lines'
import type { reconciliationQuery } from '@pitboss/contracts/endpoints/wallet'
import type { z } from 'zod'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'
import { requirePlainEncoding } from '../input/read-body.ts'
import { singleHeader } from '../input/headers.ts'
import { callerOf } from './forward.ts'

type ReconcileInbound = Inbound<unknown, z.infer<typeof reconciliationQuery>>

/**
 * Bound of the findings that wait for the ledger's end: many clients read no answer before they have sent
 * all.
 */
const heldMax = 10_000
/** Bounds of comparisons at work, each with its ids in memory; one account cannot take all places. */
const atOnceMax = 6
const atOncePerAccountMax = 2
/** A ledger that sends nothing for so long is given up. */
const silenceMs = 30_000

/**
 * `POST /v1/reports/reconciliation?from&to`: reads the operator's ledger as JSON lines or CSV and answers, as
 * JSON lines, the differences by `kind`: `extra` and `different` as the wallet service judges rows,
 * `unreadable` lines, `duplicate` ids, and `missing`: movements of ours that the ledger lacks. The last line
 * is `{ "summary": … }`, or `{ "error": … }` when the comparison broke off after it had begun to answer.
 */
export function createReconcile({ bus }: AnswerDeps): (inbound: ReconcileInbound) => Promise<Answer> {
  const atWork: string[] = []
  return async (inbound) => {
    const { raw, context } = inbound
    const format = ledgerFormat(singleHeader(raw, 'content-type'))
    if (format === null) throw invalidField('content-type', 'must be application/x-ndjson or text/csv')
    requirePlainEncoding(raw)
    const { from, to } = inbound.query
    const { scope } = callerOf(inbound)
    const { operatorId } = scope
    const ofAccount = atWork.filter((account) => account === operatorId).length
    if (atWork.length >= atOnceMax || ofAccount >= atOncePerAccountMax) {
      const message = 'Too many ledgers are being compared at the moment.'
      throw new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: 10 })
    }
    atWork.push(operatorId)
    const leave = () => atWork.splice(atWork.indexOf(operatorId), 1)
    const window = { scope, from, to, requestId: context.requestId }
    const findings = diffLedger(bus, window, readLedger(bodyChunks(raw), format))
    try {
      const held = await holdFirst(findings)
      const data = Readable.from(toLines(held, findings, context.requestId))
      data.once('close', leave)
      return { status: 200, content: { type: 'application/x-ndjson', data } }
    } catch (error) {
      leave()
      throw error
    }
  }
}

async function holdFirst(findings: AsyncGenerator<Finding>): Promise<Finding[]> {
  const held: Finding[] = []
  while (held.length < heldMax) {
    const next = await findings.next()
    if (next.done === true) break
    held.push(next.value)
  }
  return held
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

/** The format of a content type; null for any other type. */
function ledgerFormat(contentType: string | null): LedgerFormat | null {
  const type = contentType?.split(';')[0]?.trim().toLowerCase()
  if (type === 'text/csv') return 'csv'
  const isJsonLines = /^application\/(x-ndjson|ndjson|jsonl|x-jsonlines)$/.test(type ?? '')
  return isJsonLines ? 'json-lines' : null
}

/**
 * The chunks of a request's body. @throws ServiceError VALIDATION_ERROR when it breaks off, or is silent for
 * 30 s.
 */
async function* bodyChunks(request: IncomingMessage): AsyncGenerator<Buffer> {
  const chunks = request.iterator({ destroyOnReturn: false })
  for (;;) {
    const next = await withinSilence(chunks.next().catch(() => 'broken-off' as const))
    if (next === 'broken-off') throw invalidField('body', 'was broken off')
    if (next === 'silent') throw invalidField('body', `nothing more came for ${silenceMs / 1000} s`)
    if (next.done === true) return
    if (Buffer.isBuffer(next.value)) yield next.value
  }
}

function withinSilence<Value>(value: Promise<Value>): Promise<Value | 'silent'> {
  const { promise, resolve } = Promise.withResolvers<'silent'>()
  const timer = setTimeout(() => resolve('silent'), silenceMs)
  return Promise.race([value, promise]).finally(() => clearTimeout(timer))
}
