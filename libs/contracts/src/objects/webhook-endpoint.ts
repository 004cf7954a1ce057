import { z } from 'zod'
import { accountMode, webhookId } from '../primitives.ts'
import { eventType } from './event.ts'

/**
 * A webhook endpoint. Source: docs/contract.md, sections 7 and 11. `secret` is present only in the answer of
 * creation.
 */
export const webhookEndpointSchema = z.strictObject({
  webhook_id: webhookId,
  url: z.string(),
  description: z.string().nullable(),
  environment: accountMode,
  events: z.array(eventType),
  status: z.enum(['ACTIVE', 'PAUSED']),
  pause_reason: z.enum(['MANUAL', 'FAILING', 'EXHAUSTED', 'GONE']).nullable(),
  failure_streak: z.strictObject({
    consecutive_failed_attempts: z.int(),
    consecutive_failed_deliveries: z.int(),
    since: z.string().nullable(),
  }),
  created_at: z.string(),
  secret: z.string().optional(),
})
export type WebhookEndpoint = z.infer<typeof webhookEndpointSchema>

const url = z.string().min(1).max(2048)
const description = z.string().max(512)
const events = z.array(eventType).max(7)

export const webhookCreateSchema = z.strictObject({
  url,
  environment: accountMode,
  events: events.default([]),
  description: description.optional(),
})
export const webhookPatchSchema = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  description: description.nullable().optional(),
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
  matched: z.int(),
  created: z.int(),
  delivered: z.int(),
  failed: z.int(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
})
