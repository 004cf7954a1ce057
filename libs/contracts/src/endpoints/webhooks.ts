import { z } from 'zod'
import { defineEndpoint, forDashboard, builders, deliveryRetriers, everybody } from '../endpoint.ts'
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

const service = 'webhooks' as const
const webhookParam = z.strictObject({ webhook_id: z.string().max(64) })
const deliveryParam = z.strictObject({ delivery_id: z.string().max(64) })
const replayParam = z.strictObject({ webhook_id: z.string().max(64), replay_id: z.string().max(64) })
const inEnvironment = z.strictObject({ environment: accountMode.optional() })

// Endpoints
export const createWebhook = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks',
  access: { dashboard: builders },
  service,
  name: 'endpoint.create',
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
  service,
  name: 'endpoint.list',
  summary: 'Webhook endpoints',
  query: inEnvironment.extend(pageQuery),
  reply: pageOf(webhookEndpointSchema),
})
export const getWebhook = defineEndpoint({
  route: 'GET /v1/dashboard/webhooks/{webhook_id}',
  access: { dashboard: builders },
  service,
  name: 'endpoint.show',
  summary: 'One endpoint',
  params: webhookParam,
  query: inEnvironment,
  reply: webhookEndpointSchema,
  byId: true,
})
export const patchWebhook = defineEndpoint({
  route: 'PATCH /v1/dashboard/webhooks/{webhook_id}',
  access: { dashboard: builders },
  service,
  name: 'endpoint.change',
  summary: 'Change url, events or description',
  params: webhookParam,
  query: inEnvironment,
  body: webhookPatchSchema,
  reply: webhookEndpointSchema,
  byId: true,
})
export const deleteWebhook = defineEndpoint({
  route: 'DELETE /v1/dashboard/webhooks/{webhook_id}',
  access: { dashboard: builders },
  service,
  name: 'endpoint.delete',
  summary: 'Remove an endpoint',
  params: webhookParam,
  query: inEnvironment,
  reply: z.null(),
  statuses: [204],
  empty: true,
  byId: true,
})
export const rotateWebhookSecret = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/rotate-secret',
  access: { dashboard: builders },
  service,
  name: 'endpoint.rotate-secret',
  summary: 'New signing secret; the old one stays valid for a while',
  params: webhookParam,
  query: inEnvironment,
  body: z.strictObject({ overlap_s: z.int().min(0).max(604_800).default(86_400) }),
  reply: z.strictObject({
    webhook_id: z.string(),
    secret: z.string(),
    previous_valid_until: z.string().nullable(),
  }),
  byId: true,
})
export const testWebhook = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/test',
  access: { dashboard: builders },
  service,
  name: 'endpoint.test',
  summary: 'Send a test delivery',
  params: webhookParam,
  query: inEnvironment,
  reply: z.strictObject({ delivery_id: z.string() }),
  statuses: [202],
  byId: true,
})
export const pauseWebhook = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/pause',
  access: { dashboard: builders },
  service,
  name: 'endpoint.pause',
  summary: 'Hold deliveries',
  params: webhookParam,
  query: inEnvironment,
  reply: webhookEndpointSchema,
  byId: true,
})
export const resumeWebhook = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/resume',
  access: { dashboard: builders },
  service,
  name: 'endpoint.resume',
  summary: 'Deliver again, or skip what was held',
  params: webhookParam,
  query: inEnvironment,
  body: z.strictObject({ held: z.enum(['deliver', 'skip']) }),
  reply: webhookEndpointSchema,
  byId: true,
})
export const createReplay = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/replay',
  access: { dashboard: builders },
  service,
  name: 'replay.create',
  summary: 'Send events of a period again',
  params: webhookParam,
  query: inEnvironment,
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
  byId: true,
  idempotent: true,
})
export const listReplays = defineEndpoint({
  route: 'GET /v1/dashboard/webhooks/{webhook_id}/replays',
  access: { dashboard: builders },
  service,
  name: 'replay.list',
  summary: 'Replay jobs',
  params: webhookParam,
  query: inEnvironment.extend(pageQuery),
  reply: pageOf(replayJobSchema),
  byId: true,
})
export const getReplay = defineEndpoint({
  route: 'GET /v1/dashboard/webhooks/{webhook_id}/replays/{replay_id}',
  access: { dashboard: builders },
  service,
  name: 'replay.show',
  summary: 'One replay job',
  params: replayParam,
  query: inEnvironment,
  reply: replayJobSchema,
  byId: true,
})
export const cancelReplay = defineEndpoint({
  route: 'POST /v1/dashboard/webhooks/{webhook_id}/replays/{replay_id}/cancel',
  access: { dashboard: builders },
  service,
  name: 'replay.cancel',
  summary: 'Cancel what was not sent yet',
  params: replayParam,
  query: inEnvironment,
  reply: replayJobSchema,
  errors: ['CONFLICT'],
  byId: true,
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
  service,
  name: 'delivery.list',
  summary: 'Deliveries',
  query: z.strictObject(deliveryFilters),
  reply: deliveriesPage,
})
export const retryDelivery = defineEndpoint({
  route: 'POST /v1/webhook-deliveries/{delivery_id}/retry',
  access: { 'operator-api': 'unrestricted' },
  service,
  name: 'delivery.retry',
  summary: 'Send a delivery again',
  params: deliveryParam,
  reply: deliverySchema,
  statuses: [202],
  errors: ['CONFLICT'],
})
export const dashboardListDeliveries = forDashboard(listDeliveries, {
  route: 'GET /v1/dashboard/webhook-deliveries',
  roles: everybody,
})
export const dashboardGetDelivery = defineEndpoint({
  route: 'GET /v1/dashboard/webhook-deliveries/{delivery_id}',
  access: { dashboard: everybody },
  service,
  name: 'delivery.show-for-dashboard',
  summary: 'One delivery with its attempts',
  params: deliveryParam,
  query: inEnvironment,
  reply: deliveryDetailSchema,
  byId: true,
})
export const dashboardRetryDelivery = forDashboard(retryDelivery, {
  route: 'POST /v1/dashboard/webhook-deliveries/{delivery_id}/retry',
  roles: deliveryRetriers,
  byId: true,
})
