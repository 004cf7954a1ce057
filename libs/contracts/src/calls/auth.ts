import { z } from 'zod'
import { auditedActs, auditEntrySchema } from '../audit.ts'
import { accountSchema, lackingStep, roleSchema, type Scope, scopeSchema } from '../caller.ts'
import { tokenOfOperator } from '../call-token.ts'
import { defineCall } from '../call.ts'
import { requestLogSchema } from '../objects/account.ts'
import { stopRecordSchema } from '../objects/player-stop.ts'
import { manifestType } from '../token-claims.ts'
import {
  acceptInvitationBody,
  acceptInvitationReply,
  dashboardTokenSchema,
  loginBody,
  tokenBody,
  tokenSchema,
} from '../objects/user.ts'
import { eventEnvironment, operatorIdOf, sessionId, userId } from '../primitives.ts'

/** Calls of the auth service without a signed-in caller, or from services and operations alone. */

const shortText = z.string().min(1).max(512)

/** Mints a key pair's token once the gateway has checked shape and limits. docs/contract.md, section 3. */
export const mintToken = defineCall('auth.v1.token.mint', {
  token: { none: 'the key pair proves who asks' },
  request: tokenBody.extend({ clientAddress: z.string() }),
  reply: tokenSchema,
  budgetMs: 3000,
})

/** Token for a player's browser; lives until `expiresAt`, which is the session's expiry plus 30 minutes. */
export const mintLaunchToken = defineCall('auth.v1.launch-token.mint', {
  token: tokenOfOperator(({ scope }: { scope: Scope }) => scope),
  request: z.strictObject({ scope: scopeSchema, sessionId, expiresAt: z.string() }),
  reply: z.strictObject({ token: z.string() }),
  budgetMs: 3000,
})

/**
 * Resolves the subject of a token for the gateway. `active: false` means revoked, deleted or removed: the
 * token is INVALID_CREDENTIALS. `account` is null exactly when the operator does not exist.
 */
export const resolvePrincipal = defineCall('auth.v1.principal.resolve', {
  token: { none: 'the gateway judges by its answer' },
  request: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('credential'), operatorId: z.uuid(), apiKey: shortText }),
    z.strictObject({
      kind: z.literal('user'),
      operatorId: z.uuid(),
      userId,
      /** Null for a token of an earlier release, which names none and is no longer good. */
      sessionId: z.string().max(64).nullable(),
    }),
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
    user: z.strictObject({ role: roleSchema, email: z.string(), lacks: lackingStep.nullable() }).nullable(),
  }),
  budgetMs: 2000,
  neverShed: true,
})

/** `refreshToken` goes into the cookie and never into a body. */
const signedIn = z.strictObject({
  body: dashboardTokenSchema,
  refreshToken: z.string(),
  refreshMaxAgeS: z.int(),
  /** Random; the device is known by it while its session lasts. Only a sign-in hands it out. */
  device: z.string().optional(),
})

export const login = defineCall('auth.v1.dashboard.login', {
  token: { none: 'the password proves who asks' },
  request: loginBody.required({ totp: true }).extend({
    /** The cookie of a known device; with `knownDeviceOnly` a stranger is RATE_LIMITED. */
    device: z.string().max(512).optional(),
    knownDeviceOnly: z.boolean().optional(),
    /** The device that signs in; at most 256 characters of its `User-Agent`. */
    client: z.strictObject({ address: z.string(), userAgent: z.string().max(256).nullable() }).optional(),
  }),
  reply: signedIn,
  budgetMs: 8000,
})
export const refreshLogin = defineCall('auth.v1.dashboard.refresh', {
  token: { none: 'the cookie proves who asks' },
  request: z.strictObject({ refreshToken: z.string().max(512) }),
  reply: signedIn,
  budgetMs: 3000,
})
export const logout = defineCall('auth.v1.dashboard.logout', {
  token: { none: 'the cookie proves who asks' },
  request: z.strictObject({ refreshToken: z.string().max(512), clientAddress: z.string().optional() }),
  reply: z.null(),
  budgetMs: 3000,
})
export const acceptInvitation = defineCall('auth.v1.invitation.accept', {
  token: { none: 'the invitation proves who asks' },
  request: acceptInvitationBody.extend({ clientAddress: z.string().optional() }),
  reply: acceptInvitationReply,
  budgetMs: 8000,
})

/** Public halves of every key that verifies, as the JWKS route shows them. */
export const listPublicKeys = defineCall('auth.v1.keys.public', {
  callers: ['gateway', 'rounds', 'wallet-bridge', 'webhooks'],
  token: { none: 'public; tokens are verified by its answer' },
  request: z.strictObject({}),
  reply: z.strictObject({ keys: z.array(z.record(z.string(), z.unknown())) }),
  budgetMs: 2000,
  neverShed: true,
})

/** Public halves of every key that has signed records and was not withdrawn, newest first; at most 1,000. */
export const listRecordKeys = defineCall('auth.v1.keys.records', {
  token: { none: 'public; records are verified by its answer' },
  request: z.strictObject({}),
  reply: z.strictObject({ keys: z.array(z.record(z.string(), z.unknown())) }),
  budgetMs: 2000,
})

/** Signs the record of a player's stop as a compact JWS, over the very bytes of `text`. */
export const signStopRecord = defineCall('auth.v1.stop-record.sign', {
  callers: ['rounds'],
  request: z.strictObject({
    text: z.string().max(8192).refine(isStopRecord, 'must be the record of a stop'),
  }),
  reply: z.strictObject({ jws: z.string() }),
  budgetMs: 2000,
})

function isStopRecord(text: string): boolean {
  try {
    return stopRecordSchema.safeParse(JSON.parse(text)).success
  } catch {
    return false
  }
}

/** Signs the events manifest of the token's account as a compact JWS by the current key, never a token. */
export const signDocument = defineCall('auth.v1.document.sign', {
  token: tokenOfOperator(({ payload }: { payload: Record<string, unknown> }) => ({
    operatorId: operatorIdOf(String(payload.operator_id)),
    environment: payload.environment === 'LIVE' ? 'LIVE' : 'SANDBOX',
  })),
  request: z.strictObject({ typ: z.literal(manifestType), payload: z.record(z.string(), z.unknown()) }),
  reply: z.strictObject({ jws: z.string() }),
  budgetMs: 2000,
})

/** Rows of the request log, in batches of at most 500. A row that is known already is not written twice. */
export const appendRequestLog = defineCall('auth.v1.request-log.append', {
  token: { none: 'rows of many senders' },
  request: z.strictObject({
    rows: z.array(requestLogSchema.extend({ operatorId: z.uuid(), environment: eventEnvironment })).max(500),
  }),
  reply: z.strictObject({ written: z.int() }),
})

/**
 * Entries for the audit log, in batches of at most 50. An entry that is known already is not written twice.
 * Each service has a subject of its own, to which no other may publish, and sends its own acts alone.
 */
export const appendAudit = {
  rounds: appendAuditOf('rounds'),
  'wallet-bridge': appendAuditOf('wallet-bridge'),
  webhooks: appendAuditOf('webhooks'),
}

function appendAuditOf(sender: keyof typeof auditedActs) {
  const own = auditEntrySchema.refine(({ act }) => auditedActs[sender].some((one) => one === act), {
    path: ['act'],
    error: `This is no act of ${sender}.`,
  })
  return defineCall(`auth.v1.audit.append.${sender}`, {
    callers: [sender],
    request: z.strictObject({ entries: z.array(own).max(50) }),
    reply: z.strictObject({ written: z.int() }),
  })
}
