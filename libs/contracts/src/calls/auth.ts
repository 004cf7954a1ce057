import { z } from 'zod'
import {
  accountSchema,
  livePlaySchema,
  liveStatusSchema,
  planSchema,
  roleSchema,
  scopeSchema,
} from '../caller.ts'
import { defineCall } from '../call.ts'
import { manifestType } from '../token-claims.ts'
import {
  acceptInvitationBody,
  acceptInvitationReply,
  dashboardTokenSchema,
  loginBody,
  tokenBody,
  tokenSchema,
} from '../objects/token.ts'
import { happeningEnvironment, pageOf, sessionId, userId } from '../primitives.ts'

/** Calls of the auth service without a signed-in caller, or from services and operations alone. */

const shortText = z.string().min(1).max(512)

/**
 * Mints the token of a key pair. The gateway has checked shape, address limit and key limit before. Source:
 * docs/contract.md, sections 3 and 11.
 */
export const mintToken = defineCall({
  subject: 'auth.v1.token.mint',
  request: tokenBody.extend({ clientAddress: z.string() }),
  reply: tokenSchema,
  budgetMs: 3000,
})

/** Token for a player's browser; lives until `expiresAt`, which is the session's expiry plus 30 minutes. */
export const mintLaunchToken = defineCall({
  subject: 'auth.v1.launch-token.mint',
  request: z.strictObject({ scope: scopeSchema, sessionId, expiresAt: z.string() }),
  reply: z.strictObject({ token: z.string() }),
  budgetMs: 3000,
})

/**
 * Resolves the subject of a token for the gateway. `active: false` means revoked, deleted or removed: the
 * token is INVALID_CREDENTIALS. `account` is null exactly when the operator does not exist.
 */
export const resolvePrincipal = defineCall({
  subject: 'auth.v1.principal.resolve',
  request: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('credential'), operatorId: z.uuid(), apiKey: shortText }),
    z.strictObject({ kind: z.literal('user'), operatorId: z.uuid(), userId }),
    z.strictObject({ kind: z.literal('session'), operatorId: z.uuid() }),
  ]),
  reply: z.strictObject({
    active: z.boolean(),
    account: accountSchema.nullable(),
    credential: z
      .strictObject({
        scopes: z.array(z.string()),
        ip_allowlist: z.array(z.string()),
        environment: z.enum(['TEST', 'LIVE']),
      })
      .nullable(),
    user: z.strictObject({ role: roleSchema, email: z.string() }).nullable(),
  }),
  budgetMs: 2000,
  neverShed: true,
})

/** `refreshToken` goes into the cookie and never into a body. */
const signedIn = z.strictObject({
  body: dashboardTokenSchema,
  refreshToken: z.string(),
  refreshMaxAgeS: z.int(),
})

export const login = defineCall({
  subject: 'auth.v1.dashboard.login',
  request: loginBody.required(),
  reply: signedIn,
  budgetMs: 8000,
})
export const refreshLogin = defineCall({
  subject: 'auth.v1.dashboard.refresh',
  request: z.strictObject({ refreshToken: z.string().max(512) }),
  reply: signedIn,
  budgetMs: 3000,
})
export const logout = defineCall({
  subject: 'auth.v1.dashboard.logout',
  request: z.strictObject({ refreshToken: z.string().max(512) }),
  reply: z.null(),
  budgetMs: 3000,
})
export const acceptInvitation = defineCall({
  subject: 'auth.v1.invitation.accept',
  request: acceptInvitationBody,
  reply: acceptInvitationReply,
  budgetMs: 8000,
})

/** Public halves of every key that verifies, as the JWKS route shows them. */
export const listPublicKeys = defineCall({
  subject: 'auth.v1.keys.public',
  request: z.strictObject({}),
  reply: z.strictObject({ keys: z.array(z.record(z.string(), z.unknown())) }),
  budgetMs: 2000,
  neverShed: true,
})

/**
 * Signs a document (the events manifest) as a compact JWS with the current token key; it never signs a token.
 */
export const signDocument = defineCall({
  subject: 'auth.v1.document.sign',
  request: z.strictObject({ typ: z.literal(manifestType), payload: z.record(z.string(), z.unknown()) }),
  reply: z.strictObject({ jws: z.string() }),
  budgetMs: 2000,
})

/** Rows of the request log, in batches of at most 500. A row that is known already is not written twice. */
export const appendRequestLog = defineCall({
  subject: 'auth.v1.request-log.append',
  request: z.strictObject({
    rows: z
      .array(
        z.strictObject({
          operatorId: z.uuid(),
          environment: happeningEnvironment,
          request_id: z.string(),
          at: z.string(),
          method: z.string(),
          path: z.string(),
          status: z.int(),
          code: z.string().nullable(),
          latency_ms: z.int(),
          api_key: z.string().nullable(),
          client_address: z.string(),
        }),
      )
      .max(500),
  }),
  reply: z.strictObject({ written: z.int() }),
  budgetMs: 5000,
})

/** An order of the operations command: its author and reason. */
export const opsOrder = z.strictObject({
  by: z.string().max(128),
  reason: z.string().max(512).nullable(),
  dryRun: z.boolean(),
})

const operatorRecord = z.strictObject({
  operator_id: z.string(),
  name: z.string(),
  plan: planSchema,
  approved: z.boolean(),
  suspended: z.boolean(),
  live_play: livePlaySchema,
  live_status: liveStatusSchema,
  currencies: z.array(z.string()),
  created_at: z.string(),
})
export const opsCreateOperator = defineCall({
  subject: 'auth.v1.ops.operator-create',
  request: z.strictObject({
    order: opsOrder,
    name: z.string().min(1).max(128),
    email: z.email(),
    password: z.string().min(12).max(128).nullable(),
    plan: planSchema,
    approved: z.boolean(),
    currencies: z.array(z.string()).nullable(),
  }),
  reply: z.strictObject({
    operator_id: z.string(),
    name: z.string(),
    dashboard: z.strictObject({ email: z.string(), password: z.string() }),
  }),
  budgetMs: 8000,
})
export const opsListOperators = defineCall({
  subject: 'auth.v1.ops.operator-list',
  request: z.strictObject({ cursor: z.string().nullable(), limit: z.int().min(1).max(200) }),
  reply: pageOf(operatorRecord),
  budgetMs: 5000,
})
export const opsShowOperator = defineCall({
  subject: 'auth.v1.ops.operator-show',
  request: z.strictObject({ operator: z.string().max(64) }),
  reply: operatorRecord,
  budgetMs: 5000,
})
export const opsSetOperator = defineCall({
  subject: 'auth.v1.ops.operator-set',
  request: z.strictObject({
    order: opsOrder,
    operator: z.string().max(64),
    plan: planSchema.optional(),
    approved: z.boolean().optional(),
    suspended: z.boolean().optional(),
    live_play: livePlaySchema.optional(),
  }),
  reply: operatorRecord,
  budgetMs: 5000,
})
const platformRecord = z.strictObject({ real_money: z.boolean() })
export const opsShowPlatform = defineCall({
  subject: 'auth.v1.ops.platform-show',
  request: z.strictObject({}),
  reply: platformRecord,
  budgetMs: 5000,
})
export const opsSetPlatform = defineCall({
  subject: 'auth.v1.ops.platform-set',
  request: z.strictObject({ order: opsOrder, real_money: z.boolean() }),
  reply: platformRecord,
  budgetMs: 5000,
})
const keyRecord = z.strictObject({
  kid: z.string(),
  status: z.enum(['CURRENT', 'VERIFYING', 'RETIRED']),
  created_at: z.string(),
  retires_at: z.string().nullable(),
})
export const opsListKeys = defineCall({
  subject: 'auth.v1.ops.key-list',
  request: z.strictObject({}),
  reply: z.strictObject({ data: z.array(keyRecord) }),
  budgetMs: 5000,
})
export const opsRotateKeys = defineCall({
  subject: 'auth.v1.ops.key-rotate',
  request: z.strictObject({ order: opsOrder }),
  reply: z.strictObject({ data: z.array(keyRecord) }),
  budgetMs: 5000,
})

/** State of auth's database server, which has the other services' databases too. */
export const opsAuthStatus = defineCall({
  subject: 'auth.v1.ops.status',
  request: z.strictObject({}),
  reply: z.strictObject({ mongodb: z.strictObject({ version: z.string(), ping_ms: z.number() }) }),
  budgetMs: 5000,
})

/** A row of the audit log, which auth keeps; other services and the ops command append to it. */
const auditRecord = z.strictObject({
  audit_id: z.string(),
  at: z.string(),
  by: z.string(),
  what: z.string(),
  target: z.string().nullable(),
  reason: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
})
export const opsAppendAudit = defineCall({
  subject: 'auth.v1.ops.audit-append',
  request: z.strictObject({
    by: z.string(),
    what: z.string(),
    target: z.string().nullable(),
    reason: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  }),
  reply: auditRecord,
  budgetMs: 5000,
})
export const opsListAudit = defineCall({
  subject: 'auth.v1.ops.audit-list',
  request: z.strictObject({ cursor: z.string().nullable(), limit: z.int().min(1).max(200) }),
  reply: pageOf(auditRecord),
  budgetMs: 5000,
})
