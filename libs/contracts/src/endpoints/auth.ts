import { z } from 'zod'
import { auditPageSchema } from '../audit.ts'
import { defineEndpoint, forDashboard, builders, everybody, ownerAndAdmin, viewKeepers } from '../endpoint.ts'
import {
  brandCreateSchema,
  brandSchema,
  businessPatchSchema,
  businessSchema,
  credentialCreateSchema,
  credentialPatchSchema,
  credentialSchema,
  mistakesSchema,
  requestLogSchema,
  viewCreateSchema,
  viewPage,
  viewSchema,
} from '../objects/account.ts'
import { pageOf, pageQuery, accountMode, windowQuery } from '../primitives.ts'

/** Routes of key pairs, account, brands and request log. Source: docs/contract.md, sections 3 and 11. */

const brandParam = z.strictObject({ brand_id: z.string().max(64) })
const oneCredential = {
  params: z.strictObject({ api_key: z.string().max(64) }),
  query: z.strictObject({ environment: accountMode.optional() }),
}

export const listCredentials = defineEndpoint('GET /v1/dashboard/credentials', {
  access: builders,
  subject: 'auth.v1.credential.list',
  query: z.strictObject({ environment: accountMode.optional(), ...pageQuery }),
  reply: pageOf(credentialSchema),
})
export const createCredential = defineEndpoint('POST /v1/dashboard/credentials', {
  access: builders,
  subject: 'auth.v1.credential.create',
  body: credentialCreateSchema,
  reply: credentialSchema,
})
export const getCredential = defineEndpoint('GET /v1/dashboard/credentials/{api_key}', {
  access: builders,
  subject: 'auth.v1.credential.show',
  ...oneCredential,
  reply: credentialSchema,
})
export const patchCredential = defineEndpoint('PATCH /v1/dashboard/credentials/{api_key}', {
  access: builders,
  subject: 'auth.v1.credential.change',
  ...oneCredential,
  body: credentialPatchSchema,
  reply: credentialSchema,
})
export const rotateCredential = defineEndpoint('POST /v1/dashboard/credentials/{api_key}/rotate', {
  access: builders,
  subject: 'auth.v1.credential.rotate',
  ...oneCredential,
  reply: credentialSchema,
})
export const revokeCredential = defineEndpoint('POST /v1/dashboard/credentials/{api_key}/revoke', {
  access: builders,
  subject: 'auth.v1.credential.revoke',
  ...oneCredential,
  reply: credentialSchema,
})
export const deleteCredential = defineEndpoint('DELETE /v1/dashboard/credentials/{api_key}', {
  access: builders,
  subject: 'auth.v1.credential.delete',
  ...oneCredential,
  reply: z.null(),
})

export const getBusiness = defineEndpoint('GET /v1/business', {
  access: { 'operator-api': 'unrestricted', ...everybody },
  subject: 'auth.v1.business.show',
  reply: businessSchema,
})
export const patchBusiness = defineEndpoint('PATCH /v1/business', {
  access: { 'operator-api': 'unrestricted', ...ownerAndAdmin },
  subject: 'auth.v1.business.change',
  body: businessPatchSchema,
  reply: businessSchema,
})
export const dashboardGetBusiness = forDashboard(getBusiness, everybody)
export const dashboardPatchBusiness = forDashboard(patchBusiness, ownerAndAdmin)

export const listBrands = defineEndpoint('GET /v1/dashboard/brands', {
  access: everybody,
  subject: 'auth.v1.brand.list',
  query: z.strictObject(pageQuery),
  reply: pageOf(brandSchema),
})
export const createBrand = defineEndpoint('POST /v1/dashboard/brands', {
  access: ownerAndAdmin,
  subject: 'auth.v1.brand.create',
  body: brandCreateSchema,
  reply: brandSchema,
})
export const deleteBrand = defineEndpoint('DELETE /v1/dashboard/brands/{brand_id}', {
  access: ownerAndAdmin,
  subject: 'auth.v1.brand.delete',
  params: brandParam,
  reply: z.null(),
})

export const listViews = defineEndpoint('GET /v1/dashboard/views', {
  access: everybody,
  subject: 'auth.v1.view.list',
  query: z.strictObject({ page: viewPage.optional(), ...pageQuery }),
  reply: pageOf(viewSchema),
})
export const createView = defineEndpoint('POST /v1/dashboard/views', {
  access: viewKeepers,
  subject: 'auth.v1.view.create',
  body: viewCreateSchema,
  reply: viewSchema,
})
export const deleteView = defineEndpoint('DELETE /v1/dashboard/views/{view_id}', {
  access: viewKeepers,
  subject: 'auth.v1.view.delete',
  params: z.strictObject({ view_id: z.string().max(64) }),
  reply: z.null(),
})

export const listRequestLogs = defineEndpoint('GET /v1/dashboard/request-logs', {
  access: builders,
  subject: 'auth.v1.request-log.list',
  query: z.strictObject({
    environment: accountMode.optional(),
    api_key: z.string().max(64).optional(),
    status: z
      .string()
      .regex(/^[1-5][0-9]{2}$/, 'must be an HTTP status from 100 to 599')
      .optional(),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
    code: z.string().max(64).optional(),
    request_id: z.string().min(1).max(128).optional(),
    /** Its beginning. */
    path: z.string().startsWith('/').max(256).optional(),
    ...windowQuery,
    ...pageQuery,
  }),
  reply: pageOf(requestLogSchema),
})

export const listMistakes = defineEndpoint('GET /v1/dashboard/request-logs/mistakes', {
  access: builders,
  subject: 'auth.v1.request-log.mistakes',
  query: z.strictObject({ environment: accountMode.optional() }),
  reply: mistakesSchema,
})

export const listAudit = defineEndpoint('GET /v1/dashboard/audit', {
  access: ownerAndAdmin,
  subject: 'auth.v1.audit.list',
  query: z.strictObject({
    /** Id or name of the actor, or its kind. */
    actor: z.string().min(1).max(254).optional(),
    act: z.string().min(1).max(64).optional(),
    /** Id or type of the object. */
    object: z.string().min(1).max(128).optional(),
    ...windowQuery,
    ...pageQuery,
  }),
  reply: auditPageSchema,
})
