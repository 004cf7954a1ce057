import { z } from 'zod'
import { roleSchema } from '../caller.ts'
import { defineEndpoint, everybody, ownerAlone, ownerAndAdmin } from '../endpoint.ts'
import { email, password, userSchema, userSessionSchema } from '../objects/user.ts'
import { pageOf, pageQuery, shownText } from '../primitives.ts'

/** The routes of dashboard users, answered by the auth service. Source: docs/contract.md, section 11. */

const userParam = z.strictObject({ user_id: z.string().max(64) })

export const getMe = defineEndpoint('GET /v1/dashboard/me', {
  access: everybody,
  subject: 'auth.v1.me.show',
  reply: userSchema,
})
export const changePassword = defineEndpoint('POST /v1/dashboard/me/password', {
  access: everybody,
  subject: 'auth.v1.me.change-password',
  body: z.strictObject({ current_password: z.string().min(1).max(128), new_password: password }),
  reply: userSchema,
})
export const enrolTotp = defineEndpoint('POST /v1/dashboard/me/totp', {
  access: everybody,
  subject: 'auth.v1.me.enrol-totp',
  body: z.strictObject({ password: z.string().min(1).max(128) }),
  reply: z.strictObject({ secret: z.string(), otpauth_url: z.string() }),
})
export const confirmTotp = defineEndpoint('POST /v1/dashboard/me/totp/confirm', {
  access: everybody,
  subject: 'auth.v1.me.confirm-totp',
  body: z.strictObject({ code: z.string().min(1).max(32) }),
  reply: z.strictObject({ recovery_codes: z.array(z.string()) }),
})
export const removeTotp = defineEndpoint('DELETE /v1/dashboard/me/totp', {
  access: everybody,
  subject: 'auth.v1.me.remove-totp',
  body: z.strictObject({
    password: z.string().min(1).max(128),
    /** A code of the factor, or a recovery code; without it only a factor that was never confirmed goes. */
    code: z.string().min(1).max(64).optional(),
  }),
  reply: z.null(),
})

export const listOwnSessions = defineEndpoint('GET /v1/dashboard/me/sessions', {
  access: everybody,
  subject: 'auth.v1.me.list-sessions',
  query: z.strictObject(pageQuery),
  reply: pageOf(userSessionSchema),
})
export const endOwnSession = defineEndpoint('DELETE /v1/dashboard/me/sessions/{session_id}', {
  access: everybody,
  subject: 'auth.v1.me.end-session',
  params: z.strictObject({ session_id: z.string().max(64) }),
  reply: z.null(),
})

export const listUsers = defineEndpoint('GET /v1/dashboard/users', {
  access: ownerAndAdmin,
  subject: 'auth.v1.user.list',
  query: z.strictObject(pageQuery),
  reply: pageOf(userSchema),
})
export const inviteUser = defineEndpoint('POST /v1/dashboard/users', {
  access: ownerAlone,
  subject: 'auth.v1.user.create',
  body: z.strictObject({
    email,
    name: shownText(128),
    role: roleSchema,
    password: password.optional(),
    /** The person has to change the given password after the first sign-in. */
    change_password: z.boolean().optional(),
  }),
  reply: userSchema,
})
export const patchUser = defineEndpoint('PATCH /v1/dashboard/users/{user_id}', {
  access: ownerAlone,
  subject: 'auth.v1.user.change',
  params: userParam,
  body: z.strictObject({ role: roleSchema }),
  reply: userSchema,
})
export const removeUser = defineEndpoint('DELETE /v1/dashboard/users/{user_id}', {
  access: ownerAlone,
  subject: 'auth.v1.user.remove',
  params: userParam,
  reply: z.null(),
})
