import { z } from 'zod'
import { acknowledgedChangeMs } from '../call.ts'
import { defineEndpoint, forDashboard, builders, deliveryRetriers, everybody } from '../endpoint.ts'
import { webhookCertificationSchema, webhookCertificationSummarySchema } from '../objects/certification.ts'
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
import { endpointSeriesSchema, seriesQuery } from '../objects/series.ts'
import { givenInstant, pageOf, pageQuery, accountMode, windowQuery } from '../primitives.ts'

/** Routes of webhook endpoints, replays and deliveries. Source: docs/contract.md, sections 7 and 11. */

const deliveryParam = z.strictObject({ delivery_id: z.string().max(64) })
const webhookId = z.string().max(64)
const inEnvironment = z.strictObject({ environment: accountMode.optional() })
const oneWebhook = {
  params: z.strictObject({ webhook_id: webhookId }),
  query: inEnvironment,
}
const oneReplay = {
  ...oneWebhook,
  params: z.strictObject({ webhook_id: webhookId, replay_id: z.string().max(64) }),
}
const oneCertification = {
  ...oneWebhook,
  params: z.strictObject({ webhook_id: webhookId, certification_id: z.string().max(64) }),
}

// Endpoints
export const createWebhook = defineEndpoint('POST /v1/dashboard/webhooks', {
  access: builders,
  subject: 'webhooks.v1.endpoint.create',
  body: webhookCreateSchema,
  reply: webhookEndpointSchema,
  budgetMs: acknowledgedChangeMs,
})
export const listWebhooks = defineEndpoint('GET /v1/dashboard/webhooks', {
  access: builders,
  subject: 'webhooks.v1.endpoint.list',
  query: inEnvironment.extend(pageQuery),
  reply: pageOf(webhookEndpointSchema),
})
export const getWebhook = defineEndpoint('GET /v1/dashboard/webhooks/{webhook_id}', {
  access: builders,
  subject: 'webhooks.v1.endpoint.show',
  ...oneWebhook,
  reply: webhookEndpointSchema,
})
export const patchWebhook = defineEndpoint('PATCH /v1/dashboard/webhooks/{webhook_id}', {
  access: builders,
  subject: 'webhooks.v1.endpoint.change',
  ...oneWebhook,
  body: webhookPatchSchema,
  reply: webhookEndpointSchema,
  budgetMs: acknowledgedChangeMs,
})
export const deleteWebhook = defineEndpoint('DELETE /v1/dashboard/webhooks/{webhook_id}', {
  access: builders,
  subject: 'webhooks.v1.endpoint.delete',
  ...oneWebhook,
  reply: z.null(),
  budgetMs: acknowledgedChangeMs,
})
export const rotateWebhookSecret = defineEndpoint('POST /v1/dashboard/webhooks/{webhook_id}/rotate-secret', {
  access: builders,
  subject: 'webhooks.v1.endpoint.rotate-secret',
  ...oneWebhook,
  body: z.strictObject({ overlap_s: z.int().min(0).max(604_800).default(86_400) }),
  reply: z.strictObject({
    webhook_id: z.string(),
    secret: z.string(),
    previous_valid_until: z.string().nullable(),
  }),
})
export const testWebhook = defineEndpoint('POST /v1/dashboard/webhooks/{webhook_id}/test', {
  access: builders,
  subject: 'webhooks.v1.endpoint.test',
  ...oneWebhook,
  reply: z.strictObject({ delivery_id: z.string() }),
})
export const pauseWebhook = defineEndpoint('POST /v1/dashboard/webhooks/{webhook_id}/pause', {
  access: builders,
  subject: 'webhooks.v1.endpoint.pause',
  ...oneWebhook,
  reply: webhookEndpointSchema,
})
export const resumeWebhook = defineEndpoint('POST /v1/dashboard/webhooks/{webhook_id}/resume', {
  access: builders,
  subject: 'webhooks.v1.endpoint.resume',
  ...oneWebhook,
  body: z.strictObject({ held: z.enum(['deliver', 'skip']) }),
  reply: webhookEndpointSchema,
})
export const getWebhookSeries = defineEndpoint('GET /v1/dashboard/webhooks/{webhook_id}/series', {
  access: builders,
  subject: 'webhooks.v1.endpoint.series',
  ...oneWebhook,
  query: inEnvironment.extend(seriesQuery),
  reply: endpointSeriesSchema,
})
export const createReplay = defineEndpoint('POST /v1/dashboard/webhooks/{webhook_id}/replay', {
  access: builders,
  subject: 'webhooks.v1.replay.create',
  ...oneWebhook,
  body: z.strictObject({
    from: givenInstant,
    to: givenInstant,
    types: z.array(eventType).max(7).optional(),
    only: replayOnly.default('missing'),
    dry_run: z.boolean().default(false),
  }),
  reply: replayJobSchema,
  budgetMs: 30_000,
})
export const listReplays = defineEndpoint('GET /v1/dashboard/webhooks/{webhook_id}/replays', {
  access: builders,
  subject: 'webhooks.v1.replay.list',
  ...oneWebhook,
  query: inEnvironment.extend(pageQuery),
  reply: pageOf(replayJobSchema),
})
export const getReplay = defineEndpoint('GET /v1/dashboard/webhooks/{webhook_id}/replays/{replay_id}', {
  access: builders,
  subject: 'webhooks.v1.replay.show',
  ...oneReplay,
  reply: replayJobSchema,
})
export const cancelReplay = defineEndpoint(
  'POST /v1/dashboard/webhooks/{webhook_id}/replays/{replay_id}/cancel',
  {
    access: builders,
    subject: 'webhooks.v1.replay.cancel',
    ...oneReplay,
    reply: replayJobSchema,
  },
)

// Certifications
export const certifyWebhook = defineEndpoint('POST /v1/dashboard/webhooks/{webhook_id}/certify', {
  access: builders,
  subject: 'webhooks.v1.certification.start',
  ...oneWebhook,
  reply: webhookCertificationSchema,
})
export const listWebhookCertifications = defineEndpoint(
  'GET /v1/dashboard/webhooks/{webhook_id}/certifications',
  {
    access: builders,
    subject: 'webhooks.v1.certification.list',
    ...oneWebhook,
    query: inEnvironment.extend(pageQuery),
    reply: pageOf(webhookCertificationSummarySchema),
  },
)
export const getWebhookCertification = defineEndpoint(
  'GET /v1/dashboard/webhooks/{webhook_id}/certifications/{certification_id}',
  {
    access: builders,
    subject: 'webhooks.v1.certification.show',
    ...oneCertification,
    reply: webhookCertificationSchema,
  },
)
export const cancelWebhookCertification = defineEndpoint(
  'POST /v1/dashboard/webhooks/{webhook_id}/certifications/{certification_id}/cancel',
  {
    access: builders,
    subject: 'webhooks.v1.certification.cancel',
    ...oneCertification,
    reply: webhookCertificationSchema,
  },
)

// Deliveries
const deliveriesPage = pageOf(deliverySchema)
const deliveryFilters = {
  webhook_id: z.string().max(64).optional(),
  status: deliveryStatus.optional(),
  event_type: z.enum([...eventType.options, 'webhook.test']).optional(),
  event_id: z.string().max(64).optional(),
  ...windowQuery,
  ...pageQuery,
}
export const listDeliveries = defineEndpoint('GET /v1/webhook-deliveries', {
  access: { 'operator-api': 'events:read' },
  subject: 'webhooks.v1.delivery.list',
  query: z.strictObject(deliveryFilters),
  reply: deliveriesPage,
})
export const retryDelivery = defineEndpoint('POST /v1/webhook-deliveries/{delivery_id}/retry', {
  access: { 'operator-api': 'unrestricted' },
  subject: 'webhooks.v1.delivery.retry',
  params: deliveryParam,
  reply: deliverySchema,
})
export const dashboardListDeliveries = forDashboard(listDeliveries, everybody)
export const dashboardGetDelivery = defineEndpoint('GET /v1/dashboard/webhook-deliveries/{delivery_id}', {
  access: everybody,
  subject: 'webhooks.v1.delivery.show-for-dashboard',
  params: deliveryParam,
  query: inEnvironment,
  reply: deliveryDetailSchema,
})
export const dashboardRetryDelivery = forDashboard(retryDelivery, deliveryRetriers)
