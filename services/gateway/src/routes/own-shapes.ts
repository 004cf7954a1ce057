import { email, password, userSchema } from '@pitboss/contracts/objects/user'
import { instant } from '@pitboss/contracts/primitives'
import { z } from 'zod'

/** Bodies and replies of the routes that the gateway answers itself. Source: contract sections 3, 4, 7 and 11. */

const keyText = z.string().min(1).max(512)

export const mintBody = z.strictObject({ api_key: keyText, api_secret: keyText })
export const mintReply = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  operator: z.strictObject({ id: z.string(), name: z.string(), mode: z.enum(['TEST', 'LIVE']) }),
})

export const loginBody = z.strictObject({
  email,
  password: z.string().min(1).max(1024),
  totp: z.string().min(1).max(64).nullable().optional(),
})
export const loginReply = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  user: userSchema,
})
export const acceptBody = z.strictObject({ token: z.string().min(1).max(512), password })
export const acceptReply = z.strictObject({ user: userSchema })

export const jwksReply = z.strictObject({ keys: z.array(z.record(z.string(), z.unknown())) })
export const eventTypesReply = z.strictObject({
  data: z.array(
    z.strictObject({
      type: z.string(),
      description: z.string(),
      schema: z.record(z.string(), z.unknown()),
      example: z.record(z.string(), z.unknown()),
    }),
  ),
})

/** A round, the data of a `round.completed` event or its envelope; what it lacks shows as a failed check. */
export const verifyBody = z.record(z.string(), z.unknown())
export const verifyReply = z.strictObject({
  valid: z.boolean(),
  checks: z.array(
    z.strictObject({ name: z.string(), ok: z.boolean(), expected: z.string(), actual: z.string() }),
  ),
})

export const reconcileQuery = z.strictObject({ from: instant, to: instant })
export const callbackReply = z.strictObject({ status: z.literal('accepted') })
export const healthReply = z.strictObject({ status: z.string() })
