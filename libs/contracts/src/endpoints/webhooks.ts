import { z } from 'zod'
import {
  defineEndpoint,
  forDashboard,
  builders,
  deliveryRetriers,
  everybody,
  noContent,
} from '../endpoint.ts'
import {
  deliveryDetailSchema,
  deliverySchema,
  deliveryStatus,
  replayJobSchema,
  replayOnly,
  webhookCreateSchema,
  webhookEndpointSchema,
  webhookPatchSchema,
} from '../objects/webhook.ts'
import { eventType } from '../objects/event.ts'
import { instant, pageOf, pageQuery, accountMode, windowQuery } from '../primitives.ts'

/**
 * The public routes that the webhooks service answers: endpoints, replays and deliveries here. Source:
 * docs/contract.md, sections 7 and 11.
 */

const deliveryParam = z.strictObject({ delivery_id: z.string().max(64) })
const webhookId = z.string().max(64)
const inEnvironment = z.strictObject({ environment: accountMode.optional() })
const oneWebhook = {
  params: z.strictObject({ webhook_id: webhookId }),
  query: inEnvironment,
  byId: true,
} as const
const oneReplay = {
  ...oneWebhook,
  params: z.strictObject({ webhook_id: webhookId, replay_id: z.string().max(64) }),
} as const

// Endpoints
export const createWebhook = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks',
  access: { dashboard: builders },
  subject: 'webhooks.v1.endpoint.create',
  summary: 'Create a webhook endpoint; the secret is shown once',
  body: webhookCreateSchema,
  example: {
    url: 'https://casino.example.com/hooks/pitboss',
    environment: 'TEST',
    events: ['round.completed'],
  },
  reply: webhookEndpointSchema,
  statuses: [201],
  errors: ['CONFLICT'],
  idempotent: true,
})
export const listWebhooks = defineEndpoint({
  route: 'GET /v1/dashboard/webhooks',
  access: { dashboard: builders },
  subject: 'webhooks.v1.endpoint.list',
  summary: 'Webhook endpoints',
  query: inEnvironment.extend(pageQuery),
  reply: pageOf(webhookEndpointSchema),
})
export const getWebhook = defineEndpoint({
  route: 'GET /v1/dashboard/webhooks/{webhook_id}',
  access: { dashboard: builders },
  subject: 'webhooks.v1.endpoint.show',
  summary: 'One endpoint',
  ...oneWebhook,
  reply: webhookEndpointSchema,
})
export const patchWebhook = defineEndpoint({
  route: 'PATCH /v1/dashboard/webhooks/{webhook_id}',
  access: { dashboard: builders },
  subject: 'webhooks.v1.endpoint.change',
  summary: 'Change url, events, description or max_in_flight',
  ...oneWebhook,
  body: webhookPatchSchema,
  reply: webhookEndpointSchema,
})
export const deleteWebhook = defineEndpoint({
  route: 'DELETE /v1/dashboard/webhooks/{webhook_id}',
  access: { dashboard: builders },
  subject: 'webhooks.v1.endpoint.delete',
  summary: 'Remove an endpoint',
  ...oneWebhook,
  ...noContent,
})
export const rotateWebhookSecret = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/rotate-secret',
  access: { dashboard: builders },
  subject: 'webhooks.v1.endpoint.rotate-secret',
  summary: 'New signing secret; the old one stays valid for a while',
  ...oneWebhook,
  body: z.strictObject({ overlap_s: z.int().min(0).max(604_800).default(86_400) }),
  reply: z.strictObject({
    webhook_id: z.string(),
    secret: z.string(),
    previous_valid_until: z.string().nullable(),
  }),
})
export const testWebhook = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/test',
  access: { dashboard: builders },
  subject: 'webhooks.v1.endpoint.test',
  summary: 'Send a test delivery',
  ...oneWebhook,
  reply: z.strictObject({ delivery_id: z.string() }),
  statuses: [202],
})
export const pauseWebhook = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/pause',
  access: { dashboard: builders },
  subject: 'webhooks.v1.endpoint.pause',
  summary: 'Hold deliveries',
  ...oneWebhook,
  reply: webhookEndpointSchema,
})
export const resumeWebhook = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/resume',
  access: { dashboard: builders },
  subject: 'webhooks.v1.endpoint.resume',
  summary: 'Deliver again, or skip what was held',
  ...oneWebhook,
  body: z.strictObject({ held: z.enum(['deliver', 'skip']) }),
  reply: webhookEndpointSchema,
})
export const createReplay = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/replay',
  access: { dashboard: builders },
  subject: 'webhooks.v1.replay.create',
  summary: 'Send events of a period again',
  ...oneWebhook,
  body: z.strictObject({
    from: instant,
    to: instant,
    types: z.array(eventType).max(7).optional(),
    only: replayOnly.default('missing'),
    dry_run: z.boolean().default(false),
  }),
  reply: replayJobSchema,
  statuses: [202, 200],
  budgetMs: 30_000,
  errors: ['CONFLICT'],
  idempotent: true,
})
export const listReplays = defineEndpoint({
  route: 'GET /v1/dashboard/webhooks/{webhook_id}/replays',
  access: { dashboard: builders },
  subject: 'webhooks.v1.replay.list',
  summary: 'Replay jobs',
  ...oneWebhook,
  query: inEnvironment.extend(pageQuery),
  reply: pageOf(replayJobSchema),
})
export const getReplay = defineEndpoint({
  route: 'GET /v1/dashboard/webhooks/{webhook_id}/replays/{replay_id}',
  access: { dashboard: builders },
  subject: 'webhooks.v1.replay.show',
  summary: 'One replay job',
  ...oneReplay,
  reply: replayJobSchema,
})
export const cancelReplay = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/replays/{replay_id}/cancel',
  access: { dashboard: builders },
  subject: 'webhooks.v1.replay.cancel',
  summary: 'Cancel what was not sent yet',
  ...oneReplay,
  reply: replayJobSchema,
  errors: ['CONFLICT'],
})

// Deliveries
const deliveriesPage = pageOf(deliverySchema)
const deliveryFilters = {
  webhook_id: z.string().max(64).optional(),
  status: deliveryStatus.optional(),
  event_type: z.union([eventType, z.literal('webhook.test')]).optional(),
  event_id: z.string().max(64).optional(),
  ...windowQuery,
  ...pageQuery,
}
export const listDeliveries = defineEndpoint({
  route: 'GET /v1/webhook-deliveries',
  access: { 'operator-api': 'events:read' },
  subject: 'webhooks.v1.delivery.list',
  summary: 'Deliveries',
  query: z.strictObject(deliveryFilters),
  reply: deliveriesPage,
})
export const retryDelivery = defineEndpoint({
  route: 'POST /v1/webhook-deliveries/{delivery_id}/retry',
  access: { 'operator-api': 'unrestricted' },
  subject: 'webhooks.v1.delivery.retry',
  summary: 'Send a delivery again',
  params: deliveryParam,
  reply: deliverySchema,
  statuses: [202],
  errors: ['CONFLICT'],
})
export const dashboardListDeliveries = forDashboard(listDeliveries, everybody)
export const dashboardGetDelivery = defineEndpoint({
  route: 'GET /v1/dashboard/webhook-deliveries/{delivery_id}',
  access: { dashboard: everybody },
  subject: 'webhooks.v1.delivery.show-for-dashboard',
  summary: 'One delivery with its attempts',
  params: deliveryParam,
  query: inEnvironment,
  reply: deliveryDetailSchema,
  byId: true,
})
export const dashboardRetryDelivery = forDashboard(retryDelivery, deliveryRetriers, { byId: true })
