import { z } from 'zod'
import { actedBySchema, auditApprovalSchema } from '../audit.ts'
import { acknowledgedChangeMs, defineCall } from '../call.ts'
import { tokenOfAuthor } from '../call-token.ts'
import { accountSchema } from '../caller.ts'
import { approvalId, uuid } from '../primitives.ts'
import { approvalSchema, graveOrder, type GraveOrder, graveOrders } from '../objects/approval.ts'

/** How services ask for a second person, and how what was approved is done. Source: ours. */

const publicRecord = z.record(z.string(), z.unknown()).nullable()

const needRequest = z.strictObject({
  by: actedBySchema,
  order: graveOrder,
  object: z.strictObject({ type: z.string(), id: z.string() }),
  seen: z.string().max(64),
  before: publicRecord,
  after: publicRecord,
})
export type NeedApproval = z.infer<typeof needRequest>

/**
 * Whether an act of a person needs a second one. Null where the account wants none; else the approval that
 * waits for it, which a repeat finds again. `seen` names the state that `before` shows: what is approved is
 * done to that state alone. Each service has a subject of its own, asks for its own acts, and passes on the
 * token of the person who is the author.
 */
export const needApproval = {
  rounds: needOf('rounds', ['game.change']),
  'wallet-bridge': needOf('wallet-bridge', ['wallet.put', 'wallet.rotate-secret']),
  webhooks: needOf('webhooks', ['endpoint.create', 'endpoint.change']),
}

function needOf(service: 'rounds' | 'wallet-bridge' | 'webhooks', acts: readonly GraveOrder['act'][]) {
  return defineCall(`auth.v1.approval.need.${service}`, {
    callers: [service],
    token: tokenOfAuthor<NeedApproval>(),
    request: needRequest.refine(
      ({ order, object }) => acts.includes(order.act) && object.type === order.act.split('.')[0],
      {
        path: ['order'],
        error: `This is no grave act of ${service}.`,
      },
    ),
    reply: z.strictObject({
      approval: approvalSchema.nullable(),
      /** The approval that was given for this and is used up now. */
      given: auditApprovalSchema.optional(),
    }),
  })
}

const approved = {
  by: actedBySchema.extend({ approval: auditApprovalSchema }),
  seen: z.string().max(64),
}
/** `stale`: the object is no longer as it was seen, and nothing was done. A repeat answers the same. */
const done = z.strictObject({ result: z.enum(['done', 'stale']) })

/** Does what was approved, once, however often it is asked. The service asks auth whether it was. */
export const doApproved = {
  game: defineCall('rounds.v1.game.change-approved', {
    callers: ['auth'],
    isAudited: true,
    request: z.strictObject({ ...approved, account: accountSchema, order: graveOrders.game }),
    reply: done,
    budgetMs: acknowledgedChangeMs,
  }),
  wallet: defineCall('wallet.v1.wallet.put-approved', {
    callers: ['auth'],
    isAudited: true,
    request: z.strictObject({ ...approved, order: graveOrders.wallet }),
    reply: done,
    budgetMs: acknowledgedChangeMs,
  }),
}
export type ApprovedBy = z.infer<(typeof approved)['by']>

/** What an approval that was given permits, while it is being done. NOT_FOUND for any other approval. */
export const showApproved = defineCall('auth.v1.approval.show-approved', {
  callers: ['rounds', 'wallet-bridge'],
  request: z.strictObject({ operator_id: uuid, approval_id: approvalId }),
  reply: z.strictObject({ ...approved, order: graveOrder }),
})
