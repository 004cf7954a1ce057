import { z } from 'zod'
import { defineCall } from '../call.ts'
import { scopeSchema } from '../caller.ts'
import { movementFactsSchema } from '../objects/dossier.ts'
import { eventType } from '../objects/event.ts'
import { movementAttemptSchema, movementSchema, movementStatus } from '../objects/movement.ts'
import { eventId, playerId } from '../primitives.ts'
import { opsOrder } from './auth-ops.ts'
import { movementSpec, walletRefusal } from './wallet.ts'

/** Calls that operations make to wallet-bridge. Source: docs/contract.md, section 10. */

/** Movements of a round that operations see. */
export const roundMovementsMax = 500

const opsMovement = movementSchema.extend({
  operator_id: z.string(),
  next_attempt_at: z.string().nullable(),
  age_s: z.int(),
})
export const opsListMovements = defineCall('wallet.v1.ops.movement-list', {
  request: z.strictObject({
    status: movementStatus.nullable(),
    olderThanS: z.int().nullable(),
    limit: z.int().min(1).max(1000),
  }),
  reply: z.strictObject({ data: z.array(opsMovement) }),
  budgetMs: 10_000,
})
export const opsShowMovement = defineCall('wallet.v1.ops.movement-show', {
  request: z.strictObject({ reference: z.string().max(128) }),
  reply: z.strictObject({ movement: opsMovement, attempts: z.array(movementAttemptSchema) }),
})
export const opsResolveMovement = defineCall('wallet.v1.ops.movement-resolve', {
  request: z.strictObject({
    order: opsOrder,
    reference: z.string().max(128),
    as: z.enum(['success', 'failed']),
  }),
  reply: opsMovement,
})
export const opsMovementsOfRound = defineCall('wallet.v1.ops.movements-of-round', {
  request: z.strictObject({ roundId: z.string().max(64) }),
  reply: z.strictObject({
    data: z.array(z.strictObject({ movement: opsMovement, attempts: z.array(movementAttemptSchema) })),
  }),
})
/** Newest first. `next` is the `before` of the following page; null after the last. */
export const opsPlayerMovements = defineCall('wallet.v1.ops.player-movements', {
  callers: ['ops'],
  request: z.strictObject({ scope: scopeSchema, playerId, before: z.string().max(64).nullable() }),
  reply: z.strictObject({
    data: z.array(z.strictObject({ movement: movementSchema, attempts: z.array(movementAttemptSchema) })),
    next: z.string().nullable(),
  }),
  budgetMs: 10_000,
})
/**
 * The ids of the stakes that an account's rounds asked for within a window, whatever became of them, oldest
 * first. `next` is the `after` of the following page; null after the last one.
 */
export const opsListStakes = defineCall('wallet.v1.ops.stakes', {
  callers: ['ops'],
  request: z.strictObject({
    scope: scopeSchema,
    from: z.string(),
    to: z.string(),
    after: z.string().max(64).nullable(),
  }),
  reply: z.strictObject({ data: z.array(z.string()), next: z.string().nullable() }),
  budgetMs: 15_000,
})
/** A movement that has ended as its round knows it. A stake or win that was given back is SUCCESS here. */
export const certainMovement = z.strictObject({
  spec: movementSpec,
  end: z.enum(['SUCCESS', 'FAILED']),
  /** Of a refused stake. */
  code: walletRefusal.nullable(),
})
export type CertainMovement = z.infer<typeof certainMovement>
/**
 * Writes the movements that the database has lost, originals before what gave them back. The reply has the
 * ids of those; a dry run only finds them. Repeating it changes nothing more. WALLET_NOT_CONFIGURED.
 */
export const opsHealMovements = defineCall('wallet.v1.ops.movements-heal', {
  callers: ['ops'],
  request: z.strictObject({
    order: opsOrder,
    scope: scopeSchema,
    movements: z
      .array(
        certainMovement.extend({
          /** The reference and the time by which its event has told of it. */
          told: z.strictObject({ reference: z.string().max(64), at: z.iso.datetime() }).nullable(),
        }),
      )
      .max(roundMovementsMax),
  }),
  reply: z.strictObject({ data: z.array(z.string()) }),
  budgetMs: 20_000,
})
/** Stakes of which nobody can say what became of them. `next` is the `after` of the following page. */
export const opsStakesInDoubt = defineCall('wallet.v1.ops.stakes-in-doubt', {
  callers: ['ops'],
  request: z.strictObject({ scope: scopeSchema, after: z.string().max(64).nullable() }),
  reply: z.strictObject({
    data: z.array(
      z.strictObject({
        transaction_id: z.string(),
        reference: z.string(),
        round_id: z.string(),
        asked_at: z.iso.datetime(),
      }),
    ),
    next: z.string().nullable(),
  }),
  budgetMs: 10_000,
})
/** How a movement, or each of a round's, stands, with the facts by which `explain` says why. */
export const opsMovementFacts = defineCall('wallet.v1.ops.movement-facts', {
  callers: ['ops'],
  request: z.union([
    z.strictObject({ reference: z.string().max(128) }),
    z.strictObject({ roundId: z.string().max(64) }),
  ]),
  reply: z.strictObject({ data: z.array(movementFactsSchema) }),
})
/** The events that tell the ends of a round's movements, for the audit of events. */
export const opsMovementEvents = defineCall('wallet.v1.ops.events-of-round', {
  callers: ['ops'],
  request: z.strictObject({ roundId: z.string().max(64) }),
  reply: z.strictObject({
    data: z.array(z.strictObject({ event_id: z.string(), type: eventType, transaction_id: z.string() })),
  }),
})
/** Tells the ends of movements once more, each under the id that its event has by its fact. */
export const opsRepublishMovements = defineCall('wallet.v1.ops.event-republish', {
  callers: ['ops'],
  request: z.strictObject({
    order: opsOrder,
    roundId: z.string().max(64),
    eventIds: z.array(eventId).max(roundMovementsMax),
  }),
  reply: z.strictObject({ event_ids: z.array(z.string()) }),
  budgetMs: 10_000,
})
/** Figures for `ops status`: unresolved movements and alarms. */
export const opsWalletStatus = defineCall('wallet.v1.ops.status', {
  request: z.strictObject({}),
  reply: z.strictObject({
    pending: z.int(),
    oldest_pending_at: z.string().nullable(),
    alarms: z.strictObject({ over_5m: z.int(), over_1h: z.int(), over_24h: z.int() }),
    breakers_open: z.array(z.string()),
  }),
})
