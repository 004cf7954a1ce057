import { z } from 'zod'
import {
  accountMode,
  attempt,
  count,
  deliveryId,
  elapsedMs,
  httpStatus,
  noteText,
  webhookId,
} from '../primitives.ts'
import { eventType } from './event.ts'

/** Attempts at the same time, 8 unless given. Source: docs/contract.md, section 12. */
const maxInFlight = z.int().min(1).max(64)

/** A webhook endpoint; `secret` is present at creation alone. Source: docs/contract.md, sections 7 and 11. */
export const webhookEndpointSchema = z.strictObject({
  webhook_id: webhookId,
  url: z.string(),
  description: z.string().nullable(),
  environment: accountMode,
  events: z.array(eventType),
  status: z.enum(['ACTIVE', 'PAUSED']),
  pause_reason: z.enum(['MANUAL', 'FAILING', 'EXHAUSTED', 'GONE']).nullable(),
  failure_streak: z.strictObject({
    consecutive_failed_attempts: count,
    consecutive_failed_deliveries: count,
    since: z.string().nullable(),
  }),
  max_in_flight: maxInFlight,
  created_at: z.string(),
  /** Deliveries that a pause holds, counted up to 1,000; of a single endpoint alone. */
  held: count.optional(),
  secret: z.string().optional(),
})
export type WebhookEndpoint = z.infer<typeof webhookEndpointSchema>

const url = z.string().min(1).max(2048)
const description = noteText(512)
const events = z.array(eventType).max(7)
export const webhookCreateSchema = z.strictObject({
  url,
  environment: accountMode,
  events: events.default([]),
  description: description.optional(),
  max_in_flight: maxInFlight.optional(),
})
export const webhookPatchSchema = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  description: description.nullable().optional(),
  max_in_flight: maxInFlight.optional(),
})

export const replayOnly = z.enum(['failed', 'missing', 'all'])

/** A replay job. Source: docs/contract.md, section 11. `replay_id` is null in a preview. */
export const replayJobSchema = z.strictObject({
  replay_id: z.string().nullable(),
  webhook_id: webhookId,
  status: z.enum(['PREVIEW', 'RUNNING', 'DONE', 'CANCELLED']),
  from: z.string(),
  to: z.string(),
  types: z.array(eventType),
  only: replayOnly,
  matched: count,
  created: count,
  delivered: count,
  failed: count,
  created_at: z.string(),
  finished_at: z.string().nullable(),
})

export const deliveryStatus = z.enum(['PENDING', 'DELIVERED', 'FAILED', 'HELD', 'CANCELLED'])

const timing = z.number().min(0).max(Number.MAX_SAFE_INTEGER)

/** Times of one attempt in milliseconds; a phase that was not reached is null. Source: ours. */
const attemptTimings = z.strictObject({
  dns_ms: timing.nullable(),
  connect_ms: timing.nullable(),
  tls_ms: timing.nullable(),
  first_byte_ms: timing.nullable(),
  total_ms: timing,
})

/** One attempt of a delivery. Source: docs/contract.md, section 7. */
export const deliveryAttemptSchema = z.strictObject({
  attempt,
  sent_at: z.string(),
  duration_ms: elapsedMs.nullable(),
  http_status: httpStatus.nullable(),
  error: z.string().nullable(),
  response_excerpt: z.string().nullable(),
  timings: attemptTimings.nullable(),
  hint: z.string().nullable(),
  /** Where it went; null where nothing was sent, and in attempts of earlier releases. */
  url: z.string().nullable().optional(),
  /** Where a redirect, which is not followed, pointed. */
  location: z.string().nullable().optional(),
})

export const deliverySchema = z.strictObject({
  delivery_id: deliveryId,
  webhook_id: webhookId,
  event_id: z.string(),
  event_type: z.string(),
  status: deliveryStatus,
  attempt_count: count,
  next_attempt_at: z.string().nullable(),
  last_attempt: deliveryAttemptSchema.nullable(),
  created_at: z.string(),
  delivered_at: z.string().nullable(),
})
export type Delivery = z.infer<typeof deliverySchema>

export const deliveryDetailSchema = deliverySchema.extend({
  attempts: z.array(deliveryAttemptSchema),
  waiting_for: z.string().nullable(),
  /** Steps of the schedule still to come, if each attempt fails at once; absent from earlier releases. */
  ladder: z.array(z.strictObject({ step: attempt, from: z.string(), to: z.string() })).optional(),
})
