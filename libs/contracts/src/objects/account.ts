import { z } from 'zod'
import { jurisdictionName } from '../jurisdictions.ts'
import {
  accountMode,
  brandId,
  count,
  currency,
  elapsedMs,
  httpStatus,
  shownText,
  userId,
  viewId,
} from '../primitives.ts'
import { liveStatusSchema, planSchema } from '../caller.ts'

/** Every scope that exists. Source: docs/contract.md, section 2. */
export const scopeName = z.enum([
  'transactions:read',
  'transactions:write',
  'sessions:read',
  'sessions:write',
  'games:read',
  'games:write',
  'history:read',
  'history:write',
  'engagement:read',
  'engagement:write',
  'reports:read',
  'events:read',
])
export type ScopeName = z.infer<typeof scopeName>

/** A key pair; `api_secret` is there at creation and rotation alone. Source: docs/contract.md, section 11. */
export const credentialSchema = z.strictObject({
  api_key: z.string(),
  api_secret: z.string().optional(),
  name: z.string(),
  environment: accountMode,
  scopes: z.array(z.string()),
  ip_allowlist: z.array(z.string()),
  status: z.enum(['ACTIVE', 'REVOKED']),
  created_at: z.string(),
  rotated_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  last_used_at: z.string().nullable(),
  /** The address of that use; null where an earlier release noted it. */
  last_used_from: z.string().nullable().optional(),
  /** Scopes of requests that were answered with a status below 400. */
  scopes_used: z.array(scopeName).optional(),
})

const name = shownText(128)
const scopes = z.array(scopeName).max(20)
const ipAllowlist = z.array(z.string().min(1).max(64)).max(100)

export const credentialCreateSchema = z.strictObject({
  name,
  environment: accountMode,
  scopes: scopes.default([]),
  ip_allowlist: ipAllowlist.default([]),
})
export const credentialPatchSchema = z.strictObject({
  name: name.optional(),
  scopes: scopes.optional(),
  ip_allowlist: ipAllowlist.optional(),
})

/** Settings of the account; `operator_id` is the `op_` handle. Source: docs/contract.md, section 11. */
export const businessSchema = z.strictObject({
  operator_id: z.string(),
  name: z.string(),
  plan: planSchema,
  live_status: liveStatusSchema,
  currencies: z.array(currency),
  timezone: z.string(),
  /** Everybody needs a second factor. */
  require_totp: z.boolean(),
  /** Grave acts need a second person; absent for false. */
  second_person: z.literal(true).optional(),
  /** Absent for `NONE`. */
  default_jurisdiction: jurisdictionName.exclude(['NONE']).optional(),
})

export const businessPatchSchema = z.strictObject({
  name: name.optional(),
  currencies: z.array(currency).min(1).max(200).optional(),
  timezone: z.string().min(1).max(64).optional(),
  require_totp: z.boolean().optional(),
  second_person: z.boolean().optional(),
  default_jurisdiction: jurisdictionName.optional(),
})

export const brandSchema = z.strictObject({
  brand_id: brandId,
  name: z.string(),
  /** Absent for a brand that takes the account's. */
  default_jurisdiction: jurisdictionName.optional(),
  created_at: z.string(),
})
export const brandCreateSchema = z.strictObject({
  name,
  default_jurisdiction: jurisdictionName.optional(),
})

/** A list of the dashboard: the path of its page, without environment. */
export const viewPage = z
  .string()
  .max(64)
  .regex(/^(\/[a-z][a-z-]{0,30}){1,3}$/, 'must be the path of a page such as "/rounds"')

/** Body of `POST /v1/dashboard/views`; `query` is that of the page's address. */
export const viewCreateSchema = z.strictObject({
  name: shownText(64),
  page: viewPage,
  query: z.string().max(2048),
})

/** A saved view of the account: filters of a list, by name. Source: docs/contract.md, section 3. */
export const viewSchema = viewCreateSchema.extend({
  view_id: viewId,
  made_by: z.strictObject({ user_id: userId, email: z.string() }),
  created_at: z.string(),
})
export type View = z.infer<typeof viewSchema>

/** Bounds of what the request log keeps of an answer. */
export const answerDetailsMax = 20
export const answerCharactersMax = 300

/** A row of the request log. Source: docs/contract.md, section 3. */
export const requestLogSchema = z.strictObject({
  request_id: z.string(),
  at: z.string(),
  method: z.string(),
  path: z.string(),
  status: httpStatus,
  code: z.string().nullable(),
  latency_ms: elapsedMs,
  api_key: z.string().nullable(),
  client_address: z.string(),
  /** What a refused request was told; absent for others, and in rows of earlier releases. */
  answer: z
    .strictObject({
      message: z.string().max(answerCharactersMax),
      details: z
        .array(
          z.strictObject({
            path: z.string().max(answerCharactersMax),
            message: z.string().max(answerCharactersMax),
          }),
        )
        .max(answerDetailsMax),
    })
    .optional(),
})
export type RequestLogRow = z.infer<typeof requestLogSchema>

/** Refused requests of one route that went wrong in the same way. Source: docs/contract.md, section 3. */
const mistakeSchema = z.strictObject({
  method: z.string(),
  /** With `{id}` in the place of ids. */
  path: z.string(),
  status: httpStatus,
  code: z.string().nullable(),
  /** The field that was named first. */
  field: z.string().nullable(),
  count,
  last_at: z.string(),
  last_request_id: z.string(),
  /** What the last of them was told. */
  told: z.string().nullable(),
  remedy: z.string().nullable(),
})
export type Mistake = z.infer<typeof mistakeSchema>
export const mistakesSchema = z.strictObject({
  data: z.array(mistakeSchema),
  from: z.string(),
  /** False when there are more refusals than were looked at. */
  complete: z.boolean(),
})
