import { z } from 'zod'
import { deliveryId, webhookId } from '../primitives.ts'

export const deliveryStatus = z.enum(['PENDING', 'DELIVERED', 'FAILED', 'HELD', 'CANCELLED'])

/** Times of one attempt in milliseconds; a phase that was not reached is null. Source: ours. */
const attemptTimings = z.strictObject({
  dns_ms: z.number().nullable(),
  connect_ms: z.number().nullable(),
  tls_ms: z.number().nullable(),
  first_byte_ms: z.number().nullable(),
  total_ms: z.number(),
})

/** One attempt of a delivery. Source: docs/contract.md, section 7. */
export const deliveryAttemptSchema = z.strictObject({
  attempt: z.int(),
  sent_at: z.string(),
  duration_ms: z.int().nullable(),
  http_status: z.int().nullable(),
  error: z.string().nullable(),
  response_excerpt: z.string().nullable(),
  timings: attemptTimings.nullable(),
  hint: z.string().nullable(),
})

export const deliverySchema = z.strictObject({
  delivery_id: deliveryId,
  webhook_id: webhookId,
  event_id: z.string(),
  event_type: z.string(),
  status: deliveryStatus,
  attempt_count: z.int(),
  next_attempt_at: z.string().nullable(),
  last_attempt: deliveryAttemptSchema.nullable(),
  created_at: z.string(),
  delivered_at: z.string().nullable(),
})
export type Delivery = z.infer<typeof deliverySchema>

export const deliveryDetailSchema = deliverySchema.extend({
  attempts: z.array(deliveryAttemptSchema),
  waiting_for: z.string().nullable(),
})
