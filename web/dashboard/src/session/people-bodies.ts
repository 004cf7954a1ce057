import { email, password } from '@pitboss/contracts/objects/user'
import { roleSchema } from '@pitboss/contracts/caller'
import * as z from 'zod'

/** Bodies of the routes of people. Source: docs/contract.md, section 3. */

const ownPassword = z.string().min(1, 'is needed').max(128)
export const changePassword = z.strictObject({ current_password: ownPassword, new_password: password })
export const passwordBody = z.strictObject({ password: ownPassword })
export const removeTotpBody = z.strictObject({
  password: ownPassword,
  code: z.string().min(1, 'is needed').max(64),
})
export const codeBody = z.strictObject({ code: z.string().min(1, 'is needed').max(32) })
export const inviteBody = z.strictObject({
  email,
  name: z.string().min(1, 'is needed').max(128),
  role: roleSchema,
})

export const totpReply = z.strictObject({ secret: z.string(), otpauth_url: z.string() })
export const recoveryReply = z.strictObject({ recovery_codes: z.array(z.string()) })
