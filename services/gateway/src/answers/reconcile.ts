import { Readable } from 'node:stream'
import type { Bus } from '@pitboss/bus/connect-bus'
import { toErrorEnvelope } from '@pitboss/errors/service-error'
import { reconcileChunk, reconcileOurs } from '@pitboss/contracts/calls/wallet'
import { diffLedger, type Finding } from '@pitboss/ledger/diff-ledger'
import { readLedger } from '@pitboss/ledger/ledger-lines'
import { givenInstant } from '@pitboss/contracts/primitives'
import { z } from 'zod'
import type { Answer, Inbound } from '../http/inbound.ts'
import { ledgerChunks, ledgerFormat } from '../input/ledger-body.ts'
import { createLedgerPlaces } from '../limits/ledger-places.ts'
import { callerOf } from './forward.ts'

export const reconciliationQuery = z.strictObject({ from: givenInstant, to: givenInstant })

type ReconcileInbound = Inbound<unknown, z.infer<typeof reconciliationQuery>>

/**
 * Bound of the findings that wait for the ledger's end: many clients read no answer before they have sent
 * all.
 */
const heldMax = 10_000
/** For a client to read the last line of an answer that was given up. */
const farewellMs = 5000

type Bounds = { readonly deadlineMs: number; readonly bytesMax: number }
const usualBounds: Bounds = { deadlineMs: 15 * 60_000, bytesMax: 1024 ** 3 }

/**
 * `POST /v1/reports/reconciliation?from&to`: reads the operator's ledger as JSON lines or CSV and answers, as
 * JSON lines, the differences by `kind`: `extra` and `different` as the wallet service judges rows,
 * `unreadable` lines, `duplicate` ids, and `missing`: movements of ours that the ledger lacks. The last line
 * is `{ "summary": … }`, or `{ "error": … }` when the comparison broke off after it had begun to answer.
 */
export function createReconcile(
  { bus }: { readonly bus: Pick<Bus, 'call'> },
  { deadlineMs, bytesMax }: Bounds = usualBounds,
): (inbound: ReconcileInbound) => Promise<Answer> {
  // Each has its ids in memory: at most 34 MB, half more while it grows.
  const places = createLedgerPlaces({
    deadlineMs,
    full: 'Too many ledgers are being compared at the moment.',
    givenUp: 'This one was given up for an account that had none.',
    late: `must be compared within ${deadlineMs / 60_000} min; send a shorter window`,
  })
  return async (inbound) => {
    const { raw, context } = inbound
    const format = ledgerFormat(raw)
    const { from, to } = inbound.query
    const { scope } = callerOf(inbound)
    const { signal, leave } = places.take(scope.operatorId)
    signal.addEventListener('abort', leave)
    const lasting = endedBus(bus, signal)
    const calls = { bus: lasting, chunk: reconcileChunk, ours: reconcileOurs, context }
    const bytes = ledgerChunks(raw, bytesMax, signal)
    const findings = diffLedger(calls, { scope, from, to }, readLedger(bytes, format))
    try {
      const held = await holdFirst(findings)
      const data = Readable.from(toLines(held, findings, context.requestId))
      data.once('close', leave)
      // A client that reads no answer does not keep it.
      signal.addEventListener('abort', () => setTimeout(() => data.destroy(), farewellMs).unref())
      return { status: 200, content: { type: 'application/x-ndjson', data } }
    } catch (error) {
      leave()
      throw error
    }
  }
}

/** A bus that makes no further call once the signal is aborted. */
function endedBus(bus: Pick<Bus, 'call'>, signal: AbortSignal): Pick<Bus, 'call'> {
  return {
    call: async (...call) => {
      signal.throwIfAborted()
      return bus.call(...call)
    },
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
