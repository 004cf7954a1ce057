import { z } from 'zod'
import { defineEndpoint, forDashboard } from '../endpoint.ts'
import { deliveryDetailSchema, deliverySchema, deliveryStatus } from '../objects/delivery.ts'
import { eventEnvelopeSchema, eventType } from '../objects/event.ts'
import {
  replayJobSchema,
  replayOnly,
  webhookCreateSchema,
  webhookEndpointSchema,
  webhookPatchSchema,
} from '../objects/webhook-endpoint.ts'
import { instant, pageOf, pageQuery, setupEnvironment, windowQuery } from '../primitives.ts'
import { builders, deliveryRetriers, everybody } from './roles.ts'

/** The public routes that the webhooks service answers. Source: docs/contract.md, sections 7 and 11. */

const service = 'webhooks' as const
const webhookParam = z.strictObject({ webhook_id: z.string().max(64) })
const deliveryParam = z.strictObject({ delivery_id: z.string().max(64) })
const replayParam = z.strictObject({ webhook_id: z.string().max(64), replay_id: z.string().max(64) })
const inEnvironment = z.strictObject({ environment: setupEnvironment.optional() })

// Events. `next_cursor` is never null here.
const eventFilters = { type: eventType.optional(), ...windowQuery, ...pageQuery }
const eventsPage = z.strictObject({ data: z.array(eventEnvelopeSchema), next_cursor: z.string() })
const eventParam = z.strictObject({ event_id: z.string().max(64) })
export const listEvents = defineEndpoint({
  route: 'GET /v1/events',
  access: { 'operator-api': 'events:read' },
  service,
  name: 'event.list',
  summary: 'Events in the order in which they were recorded',
  query: z.strictObject(eventFilters),
  reply: eventsPage,
})
export const getEvent = defineEndpoint({
  route: 'GET /v1/events/{event_id}',
  access: { 'operator-api': 'events:read' },
  service,
  name: 'event.show',
  summary: 'One event',
  params: eventParam,
  reply: eventEnvelopeSchema,
})
export const dashboardListEvents = forDashboard(listEvents, {
  route: 'GET /v1/dashboard/events',
  roles: everybody,
})
export const dashboardGetEvent = forDashboard(getEvent, {
  route: 'GET /v1/dashboard/events/{event_id}',
  roles: everybody,
  byId: true,
})
export const manifestSchema = z.strictObject({
  from: z.string(),
  to: z.string(),
  operator_id: z.string(),
  environment: z.enum(['SANDBOX', 'LIVE']),
  hours: z.array(
    z.strictObject({
      hour: z.string(),
      count: z.int(),
      types: z.record(z.string(), z.int()),
      ids_sha256: z.string(),
    }),
  ),
})
/** The answer of the manifest's route: the gateway adds a compact JWS by the current token key. */
const signedManifestSchema = manifestSchema.extend({ signature: z.string() })
export const getEventManifest = defineEndpoint({
  route: 'GET /v1/events/manifest',
  access: { 'operator-api': 'events:read' },
  service,
  name: 'event.manifest',
  summary: 'Count and hash of the events of each hour, signed',
  query: z.strictObject({ from: instant, to: instant }),
  reply: manifestSchema,
  answer: signedManifestSchema,
  budgetMs: 30_000,
})

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
