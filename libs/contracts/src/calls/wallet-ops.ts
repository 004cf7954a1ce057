import { z } from 'zod'
import { defineCall } from '../call.ts'
import { movementAttemptSchema, movementSchema, movementStatus } from '../objects/movement.ts'
import { opsOrder } from './auth-ops.ts'

/** Calls that operations make to wallet-bridge. Source: docs/contract.md, section 10. */

const opsMovement = movementSchema.extend({
  operator_id: z.string(),
  next_attempt_at: z.string().nullable(),
  age_s: z.int(),
})
export const opsListMovements = defineCall({
  subject: 'wallet.v1.ops.movement-list',
  request: z.strictObject({
    status: movementStatus.nullable(),
    olderThanS: z.int().nullable(),
    limit: z.int().min(1).max(1000),
  }),
  reply: z.strictObject({ data: z.array(opsMovement) }),
  budgetMs: 10_000,
})
export const opsShowMovement = defineCall({
  subject: 'wallet.v1.ops.movement-show',
  request: z.strictObject({ reference: z.string().max(128) }),
  reply: z.strictObject({ movement: opsMovement, attempts: z.array(movementAttemptSchema) }),
})
export const opsResolveMovement = defineCall({
  subject: 'wallet.v1.ops.movement-resolve',
  request: z.strictObject({
    order: opsOrder,
    reference: z.string().max(128),
    as: z.enum(['success', 'failed']),
  }),
  reply: opsMovement,
})
export const opsMovementsOfRound = defineCall({
  subject: 'wallet.v1.ops.movements-of-round',
  request: z.strictObject({ roundId: z.string().max(64) }),
  reply: z.strictObject({
    data: z.array(z.strictObject({ movement: opsMovement, attempts: z.array(movementAttemptSchema) })),
  }),
})
/** Figures for `ops status`: unresolved movements and alarms. */
export const opsWalletStatus = defineCall({
  subject: 'wallet.v1.ops.status',
  request: z.strictObject({}),
  reply: z.strictObject({
    pending: z.int(),
    oldest_pending_at: z.string().nullable(),
    alarms: z.strictObject({ over_5m: z.int(), over_1h: z.int(), over_24h: z.int() }),
    breakers_open: z.array(z.string()),
  }),
})
