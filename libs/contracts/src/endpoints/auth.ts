import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { brandSchema, businessPatchSchema, businessSchema } from '../objects/business.ts'
import { credentialCreateSchema, credentialPatchSchema, credentialSchema } from '../objects/credential.ts'
import { email, password, userSchema } from '../objects/user.ts'
import { roleSchema } from '../caller.ts'
import { pageOf, pageQuery, setupEnvironment, windowQuery } from '../primitives.ts'
import { builders, everybody, ownerAlone, ownerAndAdmin } from './roles.ts'

/**
 * The public routes that the auth service answers for a signed-in caller. Source: docs/contract.md, sections
 * 3 and 11.
 */

const service = 'auth' as const
const apiKeyParam = z.strictObject({ api_key: z.string().max(64) })
const idParam = (name: string) => z.strictObject({ [name]: z.string().max(64) })
const inEnvironment = z.strictObject({ environment: setupEnvironment.optional() })

export const getMe = defineEndpoint({
  route: 'GET /v1/dashboard/me',
  access: { dashboard: everybody },
  service,
  name: 'me.show',
  summary: 'Who is signed in',
  reply: userSchema,
})
export const changePassword = defineEndpoint({
  route: 'POST /v1/dashboard/me/password',
  access: { dashboard: everybody },
  service,
  name: 'me.change-password',
  summary: "Change one's own password",
  body: z.strictObject({ current_password: z.string().min(1).max(128), new_password: password }),
  reply: userSchema,
  errors: ['INVALID_CREDENTIALS'],
})
export const enrolTotp = defineEndpoint({
  route: 'POST /v1/dashboard/me/totp',
  access: { dashboard: everybody },
  service,
  name: 'me.enrol-totp',
  summary: 'Start to use a second factor',
  reply: z.strictObject({ secret: z.string(), otpauth_url: z.string() }),
  errors: ['CONFLICT'],
})
export const confirmTotp = defineEndpoint({
  route: 'POST /v1/dashboard/me/totp/confirm',
  access: { dashboard: everybody },
  service,
  name: 'me.confirm-totp',
  summary: 'Confirm the second factor with a code',
  body: z.strictObject({ code: z.string().min(1).max(32) }),
  reply: z.strictObject({ recovery_codes: z.array(z.string()) }),
  errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
})
export const removeTotp = defineEndpoint({
  route: 'DELETE /v1/dashboard/me/totp',
  access: { dashboard: everybody },
  service,
  name: 'me.remove-totp',
  summary: 'Stop using the second factor',
  body: z.strictObject({ password: z.string().min(1).max(128) }),
  reply: z.null(),
  statuses: [204],
  empty: true,
  errors: ['INVALID_CREDENTIALS'],
})

export const listUsers = defineEndpoint({
  route: 'GET /v1/dashboard/users',
  access: { dashboard: ownerAndAdmin },
  service,
  name: 'user.list',
  summary: 'People of the account',
  query: z.strictObject({ ...pageQuery }),
  reply: pageOf(userSchema),
})
export const inviteUser = defineEndpoint({
  route: 'POST /v1/dashboard/users',
  access: { dashboard: ownerAlone },
  service,
  name: 'user.create',
  summary: 'Add a person, by password or by invitation',
  body: z.strictObject({
    email,
    name: z.string().min(1).max(128),
    role: roleSchema,
    password: password.optional(),
  }),
  reply: userSchema,
  statuses: [201],
  errors: ['CONFLICT'],
  idempotent: true,
})
export const patchUser = defineEndpoint({
  route: 'PATCH /v1/dashboard/users/{user_id}',
  access: { dashboard: ownerAlone },
  service,
  name: 'user.change',
  summary: "Change a person's role",
  params: idParam('user_id'),
  body: z.strictObject({ role: roleSchema }),
  reply: userSchema,
  errors: ['CONFLICT'],
})
export const removeUser = defineEndpoint({
  route: 'DELETE /v1/dashboard/users/{user_id}',
  access: { dashboard: ownerAlone },
  service,
  name: 'user.remove',
  summary: 'Remove a person',
  params: idParam('user_id'),
  reply: z.null(),
  statuses: [204],
  empty: true,
  errors: ['CONFLICT'],
})

export const listCredentials = defineEndpoint({
  route: 'GET /v1/dashboard/credentials',
  access: { dashboard: builders },
  service,
  name: 'credential.list',
  summary: 'Key pairs',
  query: z.strictObject({ environment: setupEnvironment.optional(), ...pageQuery }),
  reply: pageOf(credentialSchema),
})
export const createCredential = defineEndpoint({
  route: 'POST /v1/dashboard/credentials',
  access: { dashboard: builders },
  service,
  name: 'credential.create',
  summary: 'Create a key pair; the secret is shown once',
  body: credentialCreateSchema,
  example: {
    name: 'Lobby server',
    environment: 'TEST',
    scopes: ['sessions:write', 'events:read'],
    ip_allowlist: [],
  },
  reply: credentialSchema,
  statuses: [201],
  errors: ['FORBIDDEN', 'CONFLICT'],
  idempotent: true,
})
export const getCredential = defineEndpoint({
  route: 'GET /v1/dashboard/credentials/{api_key}',
  access: { dashboard: builders },
  service,
  name: 'credential.show',
  summary: 'One key pair',
  params: apiKeyParam,
  query: inEnvironment,
  reply: credentialSchema,
  byId: true,
})
export const patchCredential = defineEndpoint({
  route: 'PATCH /v1/dashboard/credentials/{api_key}',
  access: { dashboard: builders },
  service,
  name: 'credential.change',
  summary: 'Change name, scopes or allowlist',
  params: apiKeyParam,
  query: inEnvironment,
  body: credentialPatchSchema,
  reply: credentialSchema,
  errors: ['FORBIDDEN', 'CONFLICT'],
  byId: true,
})
export const rotateCredential = defineEndpoint({
  route: 'POST /v1/dashboard/credentials/{api_key}/rotate',
  access: { dashboard: builders },
  service,
  name: 'credential.rotate',
  summary: 'New secret; the old one stops at once',
  params: apiKeyParam,
  query: inEnvironment,
  reply: credentialSchema,
  errors: ['CONFLICT'],
  byId: true,
})
export const revokeCredential = defineEndpoint({
  route: 'POST /v1/dashboard/credentials/{api_key}/revoke',
  access: { dashboard: builders },
  service,
  name: 'credential.revoke',
  summary: 'End the key pair and its tokens',
  params: apiKeyParam,
  query: inEnvironment,
  reply: credentialSchema,
  byId: true,
})
export const deleteCredential = defineEndpoint({
  route: 'DELETE /v1/dashboard/credentials/{api_key}',
  access: { dashboard: builders },
  service,
  name: 'credential.delete',
  summary: 'Remove the key pair and its record',
  params: apiKeyParam,
  query: inEnvironment,
  reply: z.null(),
  statuses: [204],
  empty: true,
  byId: true,
})

export const getBusiness = defineEndpoint({
  route: 'GET /v1/business',
  access: { 'operator-api': 'unrestricted', dashboard: everybody },
  service,
  name: 'business.show',
  summary: 'Settings of the account',
  reply: businessSchema,
})
export const patchBusiness = defineEndpoint({
  route: 'PATCH /v1/business',
  access: { 'operator-api': 'unrestricted', dashboard: ownerAndAdmin },
  service,
  name: 'business.change',
  summary: 'Change name, currencies or time zone',
  body: businessPatchSchema,
  reply: businessSchema,
  errors: ['CONFLICT'],
})

export const listBrands = defineEndpoint({
  route: 'GET /v1/dashboard/brands',
  access: { dashboard: everybody },
  service,
  name: 'brand.list',
  summary: 'Brands',
  query: z.strictObject({ ...pageQuery }),
  reply: pageOf(brandSchema),
})
export const createBrand = defineEndpoint({
  route: 'POST /v1/dashboard/brands',
  access: { dashboard: ownerAndAdmin },
  service,
  name: 'brand.create',
  summary: 'Create a brand',
  body: z.strictObject({ name: z.string().min(1).max(128) }),
  reply: brandSchema,
  statuses: [201],
  errors: ['CONFLICT'],
  idempotent: true,
})
export const deleteBrand = defineEndpoint({
  route: 'DELETE /v1/dashboard/brands/{brand_id}',
  access: { dashboard: ownerAndAdmin },
  service,
  name: 'brand.delete',
  summary: 'Remove a brand',
  params: idParam('brand_id'),
  reply: z.null(),
  statuses: [204],
  empty: true,
  notFound: 'BRAND_NOT_FOUND',
})

export const requestLogSchema = z.strictObject({
  request_id: z.string(),
  at: z.string(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  code: z.string().nullable(),
  latency_ms: z.int(),
  api_key: z.string().nullable(),
  client_address: z.string(),
})
export const listRequestLogs = defineEndpoint({
  route: 'GET /v1/dashboard/request-logs',
  access: { dashboard: builders },
  service,
  name: 'request-log.list',
  summary: 'Requests of the last 30 days, newest first',
  query: z.strictObject({
    environment: setupEnvironment.optional(),
    api_key: z.string().max(64).optional(),
    status: z
      .string()
      .regex(/^[1-5][0-9]{2}$/)
      .optional(),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
    code: z.string().max(64).optional(),
    ...windowQuery,
    ...pageQuery,
  }),
  reply: pageOf(requestLogSchema),
})
