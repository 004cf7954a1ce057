import { z } from 'zod'
import { roleSchema } from '../caller.ts'
import { operatorHandle, userId } from '../primitives.ts'

/** A dashboard user; an invitation's answer has `invite_url`, once. Source: docs/contract.md, section 11. */
export const userSchema = z.strictObject({
  user_id: userId,
  email: z.string(),
  name: z.string(),
  role: roleSchema,
  status: z.enum(['ACTIVE', 'INVITED']),
  totp_enabled: z.boolean(),
  /** Until then only the own password can be changed. Source: docs/contract.md, section 12. */
  password_change_required: z.boolean(),
  created_at: z.string(),
  last_login_at: z.string().nullable(),
  invite_url: z.string().optional(),
})
export type User = z.infer<typeof userSchema>

/** A session of a person, from sign-in to sign-out. Source: docs/contract.md, section 12. */
export const userSessionSchema = z.strictObject({
  session_id: z.string(),
  created_at: z.string(),
  last_used_at: z.string(),
  expires_at: z.string(),
  client_address: z.string().nullable(),
  user_agent: z.string().nullable(),
  current: z.boolean(),
})

/** 12 to 128 characters. Source: docs/contract.md, section 11. */
export const password = z
  .string()
  .min(12, 'must have 12 to 128 characters')
  .max(128, 'must have 12 to 128 characters')
export const email = z.email('must be an e-mail address').max(254)

/** Bodies and replies of signing in. Source: docs/contract.md, sections 3 and 11. */

const keyText = z.string().min(1).max(512)

/** Body of `POST /v1/auth/token`. */
export const tokenBody = z.strictObject({ api_key: keyText, api_secret: keyText })
const bearerToken = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().min(1).max(86_400),
})
export const tokenSchema = bearerToken.extend({
  operator: z.strictObject({ id: z.string(), name: z.string(), mode: z.enum(['TEST', 'LIVE']) }),
})

/** Body of `POST /v1/dashboard/login`. */
export const loginBody = z.strictObject({
  email,
  password: z.string().min(1).max(1024),
  totp: z.string().min(1).max(64).nullable().optional(),
  /** Which account, for an e-mail address that stands in several. */
  operator_id: operatorHandle.optional(),
})
export const dashboardTokenSchema = bearerToken.extend({ user: userSchema })

/** Body of `POST /v1/dashboard/invitations/accept`. */
export const acceptInvitationBody = z.strictObject({ token: z.string().min(1).max(512), password })
export const acceptInvitationReply = z.strictObject({ user: userSchema })
