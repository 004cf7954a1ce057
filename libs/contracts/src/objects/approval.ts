import { z } from 'zod'
import { auditActorSchema } from '../audit.ts'
import { accountMode, approvalId, gameSlug, userId } from '../primitives.ts'
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
export const graveAct = z.enum(['credential.delete', 'game.change', 'wallet.put', 'business.change'])

const shownObject = z.record(z.string(), z.unknown()).nullable()
const person = z.strictObject({ user_id: userId, email: z.string() })

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
  game: z.strictObject({ act: z.literal('game.change'), slug: gameSlug, patch: gamePatchSchema }),
  wallet: z.strictObject({ act: z.literal('wallet.put'), settings: walletPutSchema }),
  business: z.strictObject({ act: z.literal('business.change'), second_person: z.literal(false) }),
}
export const graveOrder = z.discriminatedUnion('act', [
  graveOrders.credential,
  graveOrders.game,
  graveOrders.wallet,
  graveOrders.business,
])
export type GraveOrder = z.infer<typeof graveOrder>
