import { z } from 'zod'
import { roleSchema } from '../caller.ts'
import { userId } from '../primitives.ts'

/**
 * A dashboard user. Source: docs/contract.md, section 11. `invite_url` is present once, in the answer of an
 * invitation.
 */
export const userSchema = z.strictObject({
  user_id: userId,
  email: z.string(),
  name: z.string(),
  role: roleSchema,
  status: z.enum(['ACTIVE', 'INVITED']),
  totp_enabled: z.boolean(),
  created_at: z.string(),
  last_login_at: z.string().nullable(),
  invite_url: z.string().optional(),
})
export type User = z.infer<typeof userSchema>

/** 12 to 128 characters. Source: docs/contract.md, section 11. */
export const password = z
  .string()
  .min(12, 'must have 12 to 128 characters')
  .max(128, 'must have 12 to 128 characters')
export const email = z.email('must be an e-mail address').max(254)
