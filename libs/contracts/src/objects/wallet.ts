import { z } from 'zod'
import { accountMode } from '../primitives.ts'

export const settleLosses = z.enum(['none', 'zero_credit'])

/** Time for one call. Source: docs/contract.md, section 3. */
const timeoutMs = z.int().min(1000).max(15_000)

/** A wallet; `secret` is there at creation and rotation alone. Source: docs/contract.md, sections 3, 11. */
export const walletSchema = z.strictObject({
  environment: accountMode,
  url: z.string(),
  timeout_ms: timeoutMs,
  settle_losses: settleLosses,
  created_at: z.string(),
  updated_at: z.string(),
  secret: z.string().optional(),
  /** Of a rotation: until when calls are signed with the secret before it, too; null without overlap. */
  previous_valid_until: z.string().nullable().optional(),
})

/** For so many seconds calls carry a signature by the former secret beside the new one; none unless told. */
export const walletRotateSchema = z.strictObject({ overlap_s: z.int().min(0).max(86_400).default(0) })

export const walletPutSchema = z.strictObject({
  url: z.string().min(1).max(2048),
  timeout_ms: timeoutMs.default(5000),
  settle_losses: settleLosses.default('none'),
  /** The new address serves the same ledger: what went to the old one goes on there. */
  same_ledger: z.boolean().optional(),
})

export const walletCheckSchema = z.strictObject({
  ok: z.boolean(),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      ok: z.boolean(),
      expected: z.string().nullable(),
      actual: z.string().nullable(),
      hint: z.string().nullable(),
    }),
  ),
})
