import { z } from 'zod'
import { roundId } from '../primitives.ts'

/** Receipts of what a page showed. Source: docs/contract.md, section 4, "Receipts". */

const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\r\n]*$/, 'must be one line')

const shown = {
  build: z.string().regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be 1 to 100 characters of A-Z a-z 0-9 . _ -'),
  language: line(35),
  text_version: z.int().min(1).max(1_000_000),
  text: line(500),
  hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex characters'),
} as const

export const receiptCreateSchema = z.strictObject(shown)
export type ReceiptBody = z.infer<typeof receiptCreateSchema>

/** What its page is told. */
export const receiptSchema = z.strictObject({
  round_id: roundId,
  hash: z.string(),
  received_at: z.string(),
})

/**
 * What the gateway adds: the page whose script `build` names, among those that it serves; null for none of
 * them. Absent from gateways of earlier releases.
 */
export const servedPageSchema = z.strictObject({ page: z.string().max(64).nullable() })
export type ServedPage = z.infer<typeof servedPageSchema>

/** `UNCHECKED`: another language, version of the sentences or page than the service knows. */
export const receiptState = z.enum(['AGREES', 'DIFFERS', 'UNCHECKED'])

/** What the page showed beside what the service would have said, for people of the operator. */
export const sealedReceiptSchema = z.strictObject({
  state: receiptState,
  /** Why it does not agree; null where it does, and in receipts of earlier releases. */
  reason: z.enum(['text', 'language', 'text_version', 'build']).nullable(),
  received_at: z.string(),
  ...shown,
  /** The sentence of the service; null where it has none to compare. */
  expected: z.string().nullable(),
})
export type SealedReceipt = z.infer<typeof sealedReceiptSchema>
