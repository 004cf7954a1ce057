import { z } from 'zod'
import { liveStatusSchema, planSchema } from '../caller.ts'
import { brandId, currency } from '../primitives.ts'

/**
 * Settings of the account. Source: docs/contract.md, section 11. `operator_id` is the `op_` handle, as in the
 * token response.
 */
export const businessSchema = z.strictObject({
  operator_id: z.string(),
  name: z.string(),
  plan: planSchema,
  live_status: liveStatusSchema,
  currencies: z.array(currency),
  timezone: z.string(),
})

export const businessPatchSchema = z.strictObject({
  name: z.string().min(1).max(128).optional(),
  currencies: z.array(currency).min(1).max(200).optional(),
  timezone: z.string().min(1).max(64).optional(),
})

export const brandSchema = z.strictObject({ brand_id: brandId, name: z.string(), created_at: z.string() })
