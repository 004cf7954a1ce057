import {
  keepLedgerChunk,
  ledgerChunkMax,
  startReconciliation,
} from '@pitboss/contracts/calls/reconciliations'
import { accountMode, givenInstant } from '@pitboss/contracts/primitives'
import { invalidField } from '@pitboss/errors/service-error'
import { type LedgerLine, readLedger } from '@pitboss/ledger/ledger-lines'
import { newId } from '@pitboss/runtime/new-id'
import { z } from 'zod'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'
import { ledgerChunks, ledgerFormat } from '../input/ledger-body.ts'
import { createLedgerPlaces } from '../limits/ledger-places.ts'
import { callerOf } from './forward.ts'

export const orderReconciliationQuery = z.strictObject({
  environment: accountMode.optional(),
  from: givenInstant,
  to: givenInstant,
})

const linesMax = 200_000
const bytesMax = 64 * 1024 * 1024
const deadlineMs = 5 * 60_000
const fullText = 'Too many ledgers are being sent at the moment.'

/**
 * `POST /v1/dashboard/reports/reconciliation?environment&from&to`: reads the operator's ledger as JSON lines
 * or CSV, hands it to the wallet service chunk by chunk, of which one is in memory, and orders its comparison
 * as a job. Source: docs/contract.md, section 3.
 */
export function createOrderReconciliation({ bus }: Pick<AnswerDeps, 'bus'>) {
  const places = createLedgerPlaces({
    ...{ deadlineMs, full: fullText, givenUp: fullText },
    late: `must arrive within ${deadlineMs / 60_000} min`,
  })
  return async (inbound: Inbound<unknown, z.infer<typeof orderReconciliationQuery>>): Promise<Answer> => {
    const { raw, context, query } = inbound
    const format = ledgerFormat(raw)
    const caller = callerOf(inbound)
    const { signal, leave } = places.take(caller.scope.operatorId)
    const id = newId('rcn')
    let chunks = 0
    let lines = 0
    const keep = async (kept: LedgerLine[]) => {
      signal.throwIfAborted()
      await bus.call(keepLedgerChunk, { caller, id, index: chunks, lines: kept }, context)
      chunks += 1
      lines += kept.length
    }
    try {
      let held: LedgerLine[] = []
      for await (const line of readLedger(ledgerChunks(raw, bytesMax, signal), format)) {
        held.push(line)
        if (lines + held.length > linesMax)
          throw invalidField('body', `must not have more than ${linesMax} lines; send a shorter time`)
        if (held.length < ledgerChunkMax) continue
        await keep(held)
        held = []
      }
      if (held.length > 0 || chunks === 0) await keep(held)
      const order = { caller, id, from: query.from, to: query.to, chunks, lines }
      return { status: 202, json: await bus.call(startReconciliation, order, context) }
    } finally {
      leave()
    }
  }
}
