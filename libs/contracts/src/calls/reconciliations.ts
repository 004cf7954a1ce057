import { z } from 'zod'
import { tokenOfCaller } from '../call-token.ts'
import { defineCall } from '../call.ts'
import { callerSchema } from '../caller.ts'
import { operatorsLedgerRow, reconciliationSchema } from '../objects/reconciliation.ts'
import { instant } from '../primitives.ts'

/** What the gateway asks while a person sends a ledger. Source: docs/contract.md, section 3. */

const token = tokenOfCaller({ dashboard: true })
const reconciliationId = z.string().regex(/^rcn_[0-9a-z]{26}$/)

/** Lines of one call: below the largest message also when each field is as long as it may be. */
export const ledgerChunkMax = 250

/** A line of the ledger as it was read. */
export const ledgerLineSchema = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), line: z.int(), row: operatorsLedgerRow }),
  z.strictObject({ ok: z.literal(false), line: z.int(), message: z.string().max(500) }),
])

/** Keeps a chunk of a ledger, for a day unless it is compared. The first one is CONFLICT while one runs. */
export const keepLedgerChunk = defineCall('wallet.v1.reconciliation.keep', {
  token,
  request: z.strictObject({
    caller: callerSchema,
    id: reconciliationId,
    index: z.int().min(0).max(9999),
    lines: z.array(ledgerLineSchema).max(ledgerChunkMax),
  }),
  reply: z.null(),
})
/** Orders the comparison of the chunks that were kept. */
export const startReconciliation = defineCall('wallet.v1.reconciliation.start', {
  token,
  isAudited: true,
  request: z.strictObject({
    caller: callerSchema,
    id: reconciliationId,
    from: instant,
    to: instant,
    chunks: z.int().min(0).max(10_000),
    lines: z.int().min(0),
  }),
  reply: reconciliationSchema,
})
