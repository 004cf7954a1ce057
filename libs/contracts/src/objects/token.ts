import { z } from 'zod'
import { email, password, userSchema } from './user.ts'

/** Bodies and replies of signing in. Source: docs/contract.md, sections 3 and 11. */

const keyText = z.string().min(1).max(512)

/** Body of `POST /v1/auth/token`. */
export const tokenBody = z.strictObject({ api_key: keyText, api_secret: keyText })
export const tokenSchema = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  operator: z.strictObject({ id: z.string(), name: z.string(), mode: z.enum(['TEST', 'LIVE']) }),
})

/** Body of `POST /v1/dashboard/login`. */
export const loginBody = z.strictObject({
  email,
  password: z.string().min(1).max(1024),
  totp: z.string().min(1).max(64).nullable().optional(),
})
export const dashboardTokenSchema = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  user: userSchema,
})

/** Body of `POST /v1/dashboard/invitations/accept`. */
export const acceptInvitationBody = z.strictObject({ token: z.string().min(1).max(512), password })
export const acceptInvitationReply = z.strictObject({ user: userSchema })
