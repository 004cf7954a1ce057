import { z } from 'zod'
import { jurisdictionName } from './jurisdictions.ts'
import { brandId, currency, eventEnvironment, idempotencyKey, sessionId, userId, uuid } from './primitives.ts'

/** The caller of a request; travels with every call that the gateway forwards. Source: ours. */

/** One account in one environment. First argument of every repository method. */
export const scopeSchema = z.strictObject({ operatorId: uuid, environment: eventEnvironment })
export type Scope = z.infer<typeof scopeSchema>

/** The scope of a record, without the record. */
export function scopeOf({ operatorId, environment }: Scope): Scope {
  return { operatorId, environment }
}

/** A scope as keys and filters have it. */
export function scopeKey({ operatorId, environment }: Scope): string {
  return `${operatorId}/${environment}`
}

export const roleSchema = z.enum(['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT', 'VIEWER'])
export type Role = z.infer<typeof roleSchema>

export const planSchema = z.enum(['free', 'paid'])
export const livePlaySchema = z.enum(['on', 'off', 'suspended'])
export const liveStatusSchema = z.enum(['NONE', 'APPROVED', 'SUSPENDED', 'OFF'])

/** The account's switches as the gateway knows them, at most 2 s old. */
export const accountSchema = z.strictObject({
  operator_id: uuid,
  name: z.string(),
  plan: planSchema,
  approved: z.boolean(),
  suspended: z.boolean(),
  live_play: livePlaySchema,
  live_status: liveStatusSchema,
  platform_real_money: z.boolean(),
  currencies: z.array(currency),
  timezone: z.string(),
  brands: z.array(
    z.strictObject({
      brand_id: brandId,
      name: z.string(),
      default_jurisdiction: jurisdictionName.optional(),
    }),
  ),
  /** Of sessions that name none, and whose brand has none. */
  default_jurisdiction: jurisdictionName.optional(),
})
export type Account = z.infer<typeof accountSchema>

/**
 * A step that a person has to take before other routes open: a password of one's own, a second factor that
 * the account demands. Source: docs/contract.md, section 12.
 */
export const lackingStep = z.enum(['password', 'totp'])
export type LackingStep = z.infer<typeof lackingStep>

export const actorSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('credential'), api_key: z.string(), scopes: z.array(z.string()) }),
  z.strictObject({ kind: z.literal('session'), session_id: sessionId }),
  z.strictObject({
    kind: z.literal('user'),
    user_id: userId,
    email: z.string(),
    role: roleSchema,
    /** The person's session, which the token names. */
    session_id: z.string().optional(),
  }),
])
export type Actor = z.infer<typeof actorSchema>

/**
 * `scope` has the environment that the token, or a person's request, names. `eitherEnvironment`: an object
 * named by id alone is looked up in both, on dashboard routes.
 */
export const callerSchema = z.strictObject({
  scope: scopeSchema,
  eitherEnvironment: z.boolean(),
  account: accountSchema,
  actor: actorSchema,
  idempotencyKey: idempotencyKey.nullable(),
  clientAddress: z.string(),
})
export type Caller = z.infer<typeof callerSchema>

/** The scopes in which an object named by id alone may be found, in the order in which to look. */
export function lookupScopes(caller: Caller): Scope[] {
  if (!caller.eitherEnvironment) return [caller.scope]
  const { operatorId } = caller.scope
  return [
    { operatorId, environment: 'SANDBOX' },
    { operatorId, environment: 'LIVE' },
  ]
}
