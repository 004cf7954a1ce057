import { z } from 'zod'
import { auditActorSchema } from '../audit.ts'
import { roleSchema } from '../caller.ts'
import { accountMode, approvalId, approverId, gameSlug, userId } from '../primitives.ts'
import { credentialCreateSchema, credentialPatchSchema } from './account.ts'
import { gamePatchSchema } from './game.ts'
import { walletPutSchema } from './wallet.ts'

/** Grave acts that wait for a second person. Source: docs/contract.md, section 3, "Approval". */

/** `DONE`, `REJECTED`, `EXPIRED`, `STALE` and `REFUSED` are the end. */
export const approvalStatus = z.enum([
  'PENDING',
  'APPROVED',
  'DONE',
  'REJECTED',
  'EXPIRED',
  'STALE',
  'REFUSED',
])
export type ApprovalStatus = z.infer<typeof approvalStatus>

/** What is to be done, as the audit log names it. */
export const graveAct = z.enum([
  'credential.create',
  'credential.change',
  'credential.delete',
  'game.change',
  'wallet.put',
  'wallet.rotate-secret',
  'endpoint.create',
  'endpoint.change',
  'user.create',
  'user.change',
  'business.change',
])

const shownObject = z.record(z.string(), z.unknown()).nullable()
/** A person of the account; for `operations` the names of the two who approved in its place. */
const person = z.strictObject({ user_id: approverId, email: z.string() })

/** `before` and `after` are public records, without secrets: what the asker saw, and what it becomes. */
export const approvalSchema = z.strictObject({
  approval_id: approvalId,
  act: graveAct,
  object: z.strictObject({ type: z.string(), id: z.string() }),
  before: shownObject,
  after: shownObject,
  status: approvalStatus,
  asked_by: auditActorSchema,
  asked_at: z.string(),
  /** 24 hours after it was asked for. */
  expires_at: z.string(),
  decided_by: person.nullable(),
  decided_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  /** Why it was not done, in words. */
  outcome: z.string().nullable(),
})
export type Approval = z.infer<typeof approvalSchema>

/** What a service does when it is approved, by act. */
export const graveOrders = {
  credential: z.strictObject({
    act: z.literal('credential.delete'),
    environment: accountMode,
    api_key: z.string().max(64),
  }),
  credentialCreate: z.strictObject({ act: z.literal('credential.create'), key: credentialCreateSchema }),
  credentialChange: z.strictObject({
    act: z.literal('credential.change'),
    environment: accountMode,
    api_key: z.string().max(64),
    patch: credentialPatchSchema,
  }),
  game: z.strictObject({ act: z.literal('game.change'), slug: gameSlug, patch: gamePatchSchema }),
  wallet: z.strictObject({ act: z.literal('wallet.put'), settings: walletPutSchema }),
  walletSecret: z.strictObject({ act: z.literal('wallet.rotate-secret'), overlap_s: z.int().min(0) }),
  endpointCreate: z.strictObject({ act: z.literal('endpoint.create'), url: z.string() }),
  endpointChange: z.strictObject({
    act: z.literal('endpoint.change'),
    webhook_id: z.string().max(64),
    url: z.string(),
  }),
  userCreate: z.strictObject({
    act: z.literal('user.create'),
    email: z.string(),
    name: z.string(),
    role: roleSchema,
  }),
  userChange: z.strictObject({ act: z.literal('user.change'), user_id: userId, role: roleSchema }),
  business: z.strictObject({
    act: z.literal('business.change'),
    second_person: z.literal(false).optional(),
    require_totp: z.literal(false).optional(),
  }),
}
export const graveOrder = z.discriminatedUnion('act', [
  graveOrders.credential,
  graveOrders.game,
  graveOrders.wallet,
  graveOrders.business,
  graveOrders.credentialCreate,
  graveOrders.credentialChange,
  graveOrders.walletSecret,
  graveOrders.endpointCreate,
  graveOrders.endpointChange,
  graveOrders.userCreate,
  graveOrders.userChange,
])
export type GraveOrder = z.infer<typeof graveOrder>

/**
 * Acts that an approval permits: who asked repeats the request, and is the one who sees the secret of its
 * answer. The others are done when they are approved.
 */
const permittedActs: readonly GraveOrder['act'][] = [
  'credential.create',
  'wallet.rotate-secret',
  'endpoint.create',
  'endpoint.change',
  'user.create',
]

/** Whether the person who asked for an act does it himself once it is approved. */
export function isPermitted({ act }: Pick<GraveOrder, 'act'>): boolean {
  return permittedActs.includes(act)
}
