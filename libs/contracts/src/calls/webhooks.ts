import { z } from 'zod'
import { defineCall } from '../call.ts'
import { scopeSchema } from '../caller.ts'
import {
  deliveryDetailSchema,
  deliverySchema,
  deliveryStatus,
  replayJobSchema,
  replayOnly,
} from '../objects/webhook.ts'
import { eventId, roundId, transactionId } from '../primitives.ts'
import { opsOrder } from './auth-ops.ts'
import { stakeStanding, startedRound } from './rounds.ts'
import { defineRewindCalls } from './rewind.ts'

/** Calls that operations make to webhooks. Source: docs/contract.md, section 10. */

const opsDelivery = deliverySchema.extend({ operator_id: z.string() })
export const opsListDeliveries = defineCall('webhooks.v1.ops.delivery-list', {
  request: z.strictObject({
    webhookId: z.string().nullable(),
    status: deliveryStatus.nullable(),
    eventId: z.string().nullable(),
    limit: z.int().min(1).max(1000),
  }),
  reply: z.strictObject({ data: z.array(opsDelivery) }),
  budgetMs: 10_000,
})
export const opsShowDelivery = defineCall('webhooks.v1.ops.delivery-show', {
  request: z.strictObject({ deliveryId: z.string().max(64) }),
  reply: deliveryDetailSchema.extend({ operator_id: z.string() }),
})
export const opsRetryDelivery = defineCall('webhooks.v1.ops.delivery-retry', {
  request: z.strictObject({ order: opsOrder, deliveryId: z.string().max(64) }),
  reply: opsDelivery,
})
export const opsReplayEndpoint = defineCall('webhooks.v1.ops.endpoint-replay', {
  request: z.strictObject({
    order: opsOrder,
    webhookId: z.string().max(64),
    from: z.string(),
    to: z.string(),
    only: replayOnly,
  }),
  reply: replayJobSchema,
  budgetMs: 30_000,
})
export const opsShowReplay = defineCall('webhooks.v1.ops.replay-show', {
  request: z.strictObject({ replayId: z.string().max(64) }),
  reply: replayJobSchema,
})
const parked = z.strictObject({
  parked_id: z.string(),
  consumer: z.string(),
  stream_seq: z.int(),
  subject: z.string(),
  parked_at: z.string(),
  deliveries: z.int(),
  error: z.string(),
  payload: z.string(),
})
export const opsListParked = defineCall('webhooks.v1.ops.parked-list', {
  request: z.strictObject({ limit: z.int().min(1).max(1000) }),
  reply: z.strictObject({ data: z.array(parked) }),
})
export const opsShowParked = defineCall('webhooks.v1.ops.parked-show', {
  request: z.strictObject({ parkedId: z.string().max(64) }),
  reply: parked,
})
export const opsRetryParked = defineCall('webhooks.v1.ops.parked-retry', {
  request: z.strictObject({ order: opsOrder, parkedId: z.string().max(64) }),
  reply: z.strictObject({ parked_id: z.string(), handled: z.boolean(), error: z.string().nullable() }),
  budgetMs: 15_000,
})

/** Rewinds of the fan-out consumer. */
export const fanoutRewind = defineRewindCalls('webhooks')

export const opsWebhooksStatus = defineCall('webhooks.v1.ops.status', {
  request: z.strictObject({}),
  reply: z.strictObject({
    pending: z.int(),
    oldest_due_at: z.string().nullable(),
    held: z.int(),
    parked: z.int(),
    paused_endpoints: z.int(),
  }),
})
/** Of these events, the ids of those that are not recorded, under whatever id. For the audit of events. */
export const opsMissingEvents = defineCall('webhooks.v1.ops.events-missing', {
  callers: ['ops'],
  request: z.strictObject({
    events: z.array(z.strictObject({ event_id: eventId, round_id: z.string().max(64) })).max(1000),
  }),
  reply: z.strictObject({ data: z.array(z.string()) }),
  budgetMs: 10_000,
})
/** Rounds of an account that began in a window, by their recorded `round.started`, in recording order. */
export const opsRoundsStarted = defineCall('webhooks.v1.ops.rounds-started', {
  callers: ['ops'],
  request: z.strictObject({
    scope: scopeSchema,
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    /** `next` of the page before. */
    after: z.int().min(0).nullable(),
  }),
  reply: z.strictObject({ data: z.array(startedRound), next: z.int().nullable() }),
  budgetMs: 10_000,
})
/**
 * What the event log and the stream of events say of a stake that was asked for at `since`. `not-taken` only
 * when the stream reaches back to that and has nothing of it, else `unknown`. wallet-bridge asks before it
 * takes back an old stake by itself, operations before they end one that is in doubt.
 */
export const showLoggedStake = defineCall('webhooks.v1.event.stake-standing', {
  callers: ['wallet-bridge', 'ops'],
  request: z.strictObject({ scope: scopeSchema, roundId, transactionId, since: z.iso.datetime() }),
  reply: z.strictObject({ standing: stakeStanding }),
  budgetMs: 10_000,
})
/** Events that mention a round, for the dossier. */
export const opsEventsOfRound = defineCall('webhooks.v1.ops.events-of-round', {
  request: z.strictObject({ roundId: z.string().max(64) }),
  reply: z.strictObject({
    data: z.array(
      z.strictObject({ event: z.record(z.string(), z.unknown()), deliveries: z.array(opsDelivery) }),
    ),
  }),
  budgetMs: 10_000,
})
