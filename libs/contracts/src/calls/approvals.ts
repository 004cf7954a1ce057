import { z } from 'zod'
import { actedBySchema, auditApprovalSchema } from '../audit.ts'
import { defineCall } from '../call.ts'
import { accountSchema } from '../caller.ts'
import { approvalSchema, graveOrder, graveOrders } from '../objects/approval.ts'

/** How services ask for a second person, and how what was approved is done. Source: ours. */

const publicRecord = z.record(z.string(), z.unknown()).nullable()

/**
 * Whether an act of a person needs a second one. Null where the account wants none; else the approval that
 * waits for it, which a repeat finds again. `seen` names the state that `before` shows: what is approved is
 * done to that state alone.
 */
export const needApproval = defineCall('auth.v1.approval.need', {
  callers: ['rounds', 'wallet-bridge'],
  request: z.strictObject({
    by: actedBySchema,
    order: graveOrder,
    object: z.strictObject({ type: z.string(), id: z.string() }),
    seen: z.string().max(64),
    before: publicRecord,
    after: publicRecord,
  }),
  reply: z.strictObject({ approval: approvalSchema.nullable() }),
})
export type NeedApproval = z.infer<typeof needApproval.request>

const approved = {
  by: actedBySchema.extend({ approval: auditApprovalSchema }),
  seen: z.string().max(64),
}
/** `stale`: the object is no longer as it was seen, and nothing was done. A repeat answers the same. */
const done = z.strictObject({ result: z.enum(['done', 'stale']) })

/** Does what was approved, once, however often it is asked. */
export const doApproved = {
  game: defineCall('rounds.v1.game.change-approved', {
    callers: ['auth'],
    request: z.strictObject({ ...approved, account: accountSchema, order: graveOrders.game }),
    reply: done,
  }),
  wallet: defineCall('wallet.v1.wallet.put-approved', {
    callers: ['auth'],
    request: z.strictObject({ ...approved, order: graveOrders.wallet }),
    reply: done,
  }),
}
export type ApprovedBy = z.infer<(typeof approved)['by']>
