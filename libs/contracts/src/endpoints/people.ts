import { z } from 'zod'
import { roleSchema } from '../caller.ts'
import { defineEndpoint, everybody, ownerAlone, ownerAndAdmin, noContent } from '../endpoint.ts'
import { email, password, userSchema, userSessionSchema } from '../objects/user.ts'
import { pageOf, pageQuery } from '../primitives.ts'

/** The routes of dashboard users, answered by the auth service. Source: docs/contract.md, section 11. */

const userParam = z.strictObject({ user_id: z.string().max(64) })

export const getMe = defineEndpoint({
  route: 'GET /v1/dashboard/me',
  access: { dashboard: everybody },
  subject: 'auth.v1.me.show',
  mayLack: ['password', 'totp'],
  summary: 'Who is signed in',
  reply: userSchema,
})
export const changePassword = defineEndpoint({
  route: 'POST /v1/dashboard/me/password',
  access: { dashboard: everybody },
  subject: 'auth.v1.me.change-password',
  mayLack: ['password', 'totp'],
  summary: "Change one's own password",
  body: z.strictObject({ current_password: z.string().min(1).max(128), new_password: password }),
  reply: userSchema,
  errors: ['INVALID_CREDENTIALS'],
})
export const enrolTotp = defineEndpoint({
  route: 'POST /v1/dashboard/me/totp',
  access: { dashboard: everybody },
  subject: 'auth.v1.me.enrol-totp',
  mayLack: ['totp'],
  summary: 'Start to use a second factor',
  body: z.strictObject({ password: z.string().min(1).max(128) }),
  reply: z.strictObject({ secret: z.string(), otpauth_url: z.string() }),
  errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
})
export const confirmTotp = defineEndpoint({
  route: 'POST /v1/dashboard/me/totp/confirm',
  access: { dashboard: everybody },
  subject: 'auth.v1.me.confirm-totp',
  mayLack: ['totp'],
  summary: 'Confirm the second factor with a code',
  body: z.strictObject({ code: z.string().min(1).max(32) }),
  reply: z.strictObject({ recovery_codes: z.array(z.string()) }),
  errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
})
export const removeTotp = defineEndpoint({
  route: 'DELETE /v1/dashboard/me/totp',
  access: { dashboard: everybody },
  subject: 'auth.v1.me.remove-totp',
  mayLack: ['totp'],
  summary: 'Stop using the second factor',
  body: z.strictObject({ password: z.string().min(1).max(128) }),
  ...noContent,
  errors: ['INVALID_CREDENTIALS'],
})

export const listOwnSessions = defineEndpoint({
  route: 'GET /v1/dashboard/me/sessions',
  access: { dashboard: everybody },
  subject: 'auth.v1.me.list-sessions',
  summary: 'Where one is signed in, newest first',
  reply: pageOf(userSessionSchema),
})
export const endOwnSession = defineEndpoint({
  route: 'DELETE /v1/dashboard/me/sessions/{session_id}',
  access: { dashboard: everybody },
  subject: 'auth.v1.me.end-session',
  summary: 'Sign out of one of them',
  params: z.strictObject({ session_id: z.string().max(64) }),
  ...noContent,
})

export const listUsers = defineEndpoint({
  route: 'GET /v1/dashboard/users',
  access: { dashboard: ownerAndAdmin },
  subject: 'auth.v1.user.list',
  summary: 'People of the account',
  query: z.strictObject(pageQuery),
  reply: pageOf(userSchema),
})
export const inviteUser = defineEndpoint({
  route: 'POST /v1/dashboard/users',
  access: { dashboard: ownerAlone },
  subject: 'auth.v1.user.create',
  summary: 'Add a person, by password or by invitation',
  body: z.strictObject({
    email,
    name: z.string().min(1).max(128),
    role: roleSchema,
    password: password.optional(),
    /** The person has to change the given password after the first sign-in. */
    change_password: z.boolean().optional(),
  }),
  reply: userSchema,
  statuses: [201],
  errors: ['CONFLICT'],
  idempotent: true,
})
export const patchUser = defineEndpoint({
  route: 'PATCH /v1/dashboard/users/{user_id}',
  access: { dashboard: ownerAlone },
  subject: 'auth.v1.user.change',
  summary: "Change a person's role",
  params: userParam,
  body: z.strictObject({ role: roleSchema }),
  reply: userSchema,
  errors: ['CONFLICT'],
})
export const removeUser = defineEndpoint({
  route: 'DELETE /v1/dashboard/users/{user_id}',
  access: { dashboard: ownerAlone },
  subject: 'auth.v1.user.remove',
  summary: 'Remove a person',
  params: userParam,
  ...noContent,
  errors: ['CONFLICT'],
})
