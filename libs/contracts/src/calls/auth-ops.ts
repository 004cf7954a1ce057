import { z } from 'zod'
import { livePlaySchema, liveStatusSchema, planSchema } from '../caller.ts'
import { defineCall } from '../call.ts'
import { auditLinkSchema } from '../audit-chain.ts'
import { approvalSchema } from '../objects/approval.ts'
import { userSchema } from '../objects/user.ts'
import { pageOf, shownText } from '../primitives.ts'

/** Calls that operations make to auth. Source: docs/contract.md, section 10. */

/** An order of the operations command: its author and reason. A dry run checks it and changes nothing. */
export const opsOrder = z.strictObject({
  by: z.string().min(1).max(128),
  reason: z.string().max(512).nullable(),
  dryRun: z.boolean(),
})
export type OpsOrder = z.output<typeof opsOrder>

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
export const opsCreateOperator = defineCall('auth.v1.ops.operator-create', {
  request: z.strictObject({
    order: opsOrder,
    name: shownText(128),
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
export const opsListOperators = defineCall('auth.v1.ops.operator-list', {
  request: z.strictObject({ cursor: z.string().nullable(), limit: z.int().min(1).max(200) }),
  reply: pageOf(operatorRecord),
})
export const opsShowOperator = defineCall('auth.v1.ops.operator-show', {
  request: z.strictObject({ operator: z.string().max(64) }),
  reply: operatorRecord,
})
export const opsSetOperator = defineCall('auth.v1.ops.operator-set', {
  request: z.strictObject({
    order: opsOrder,
    operator: z.string().max(64),
    plan: planSchema.optional(),
    approved: z.boolean().optional(),
    suspended: z.boolean().optional(),
    live_play: livePlaySchema.optional(),
  }),
  reply: operatorRecord,
})
/** Takes a second factor away. `user` is an id or e-mail address, `operator` the account's. */
export const opsResetFactor = defineCall('auth.v1.ops.user-reset-factor', {
  request: z.strictObject({
    order: opsOrder,
    user: z.string().max(254),
    operator: z.string().max(64).nullable(),
  }),
  reply: userSchema,
  budgetMs: 5000,
})
const platformRecord = z.strictObject({ real_money: z.boolean() })
export const opsShowPlatform = defineCall('auth.v1.ops.platform-show', {
  request: z.strictObject({}),
  reply: platformRecord,
})
export const opsSetPlatform = defineCall('auth.v1.ops.platform-set', {
  request: z.strictObject({ order: opsOrder, real_money: z.boolean() }),
  reply: platformRecord,
})
const keyRecord = z.strictObject({
  kid: z.string(),
  status: z.enum(['CURRENT', 'VERIFYING', 'RETIRED']),
  created_at: z.string(),
  retires_at: z.string().nullable(),
})
export const opsListKeys = defineCall('auth.v1.ops.key-list', {
  request: z.strictObject({}),
  reply: z.strictObject({ data: z.array(keyRecord) }),
})
export const opsRotateKeys = defineCall('auth.v1.ops.key-rotate', {
  request: z.strictObject({ order: opsOrder }),
  reply: z.strictObject({ data: z.array(keyRecord) }),
})
/** Ends a signing key, current or not, and with it every token that it has signed. */
export const opsRetireKey = defineCall('auth.v1.ops.key-retire', {
  request: z.strictObject({ order: opsOrder, kid: z.string().min(1).max(64) }),
  reply: z.strictObject({ data: z.array(keyRecord) }),
})

/** State of auth's database server, which has the other services' databases too. */
export const opsAuthStatus = defineCall('auth.v1.ops.status', {
  request: z.strictObject({}),
  reply: z.strictObject({ mongodb: z.strictObject({ version: z.string(), ping_ms: z.number() }) }),
})

/** A row of the audit log, which auth keeps. */
const auditRecord = z.strictObject({
  audit_id: z.string(),
  at: z.string(),
  by: z.string(),
  what: z.string(),
  target: z.string().nullable(),
  reason: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
})
/** A record of what the command does to NATS itself; each service records what it is ordered to change. */
export const opsAppendAudit = defineCall('auth.v1.ops.audit-append', {
  request: auditRecord.omit({ audit_id: true, at: true }),
  reply: z.strictObject({ audit_id: z.string() }),
})
export const opsListAudit = defineCall('auth.v1.ops.audit-list', {
  request: z.strictObject({ cursor: z.string().nullable(), limit: z.int().min(1).max(200) }),
  reply: pageOf(auditRecord),
})

/**
 * Approves a grave act in place of a second person whom the account has not. The first person of operations
 * is noted, the second one approves. Source: docs/contract.md, section 3, "Approval".
 */
export const opsApprove = defineCall('auth.v1.ops.approval-approve', {
  request: z.strictObject({
    order: opsOrder,
    operator: z.string().max(64),
    approval_id: z.string().max(64),
  }),
  reply: approvalSchema,
  budgetMs: 10_000,
})

/**
 * Links of an account's chain, or with a null `operator` of those of no account, from a place on; with the
 * ids of entries that stand outside of it, the signed end and the keys that verify the signature.
 */
export const opsReadAuditChain = defineCall('auth.v1.ops.audit-chain', {
  request: z.strictObject({
    operator: z.string().max(64).nullable(),
    from_seq: z.int().min(1),
    limit: z.int().min(1).max(50),
  }),
  reply: z.strictObject({
    links: z.array(auditLinkSchema),
    unlinked: z.array(z.string()),
    head: z.string().nullable(),
    keys: z.array(z.record(z.string(), z.unknown())),
  }),
  budgetMs: 10_000,
})
