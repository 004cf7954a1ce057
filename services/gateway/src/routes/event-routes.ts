import * as events from '@pitboss/contracts/endpoints/events'
import * as webhooks from '@pitboss/contracts/endpoints/webhooks'
import { signedManifestSchema, signManifest } from '../answers/completed-replies.ts'
import { forwarded, type RouteEntry } from './route-entry.ts'

const byId = { byId: true } as const

/** Events, deliveries and webhook endpoints. Source: docs/contract.md, sections 7 and 11. */
export const eventRoutes: readonly RouteEntry[] = [
  forwarded(events.listEvents, 'Events in the order in which they were recorded'),
  forwarded(events.getEventManifest, 'Count and hash of the events of each hour, signed', {
    answer: signManifest,
    reply: signedManifestSchema,
  }),
  forwarded(events.getEvent, 'One event'),
  forwarded(events.dashboardListEvents, 'Events in the order in which they were recorded'),
  forwarded(events.dashboardGetEvent, 'One event', byId),

  forwarded(webhooks.listDeliveries, 'Deliveries'),
  forwarded(webhooks.retryDelivery, 'Send a delivery again', { statuses: [202], errors: ['CONFLICT'] }),
  forwarded(webhooks.dashboardListDeliveries, 'Deliveries'),
  forwarded(webhooks.dashboardGetDelivery, 'One delivery with its attempts', byId),
  forwarded(webhooks.dashboardRetryDelivery, 'Send a delivery again', {
    ...byId,
    statuses: [202],
    errors: ['CONFLICT'],
  }),

  forwarded(webhooks.listWebhooks, 'Webhook endpoints'),
  forwarded(webhooks.createWebhook, 'Create a webhook endpoint; the secret is shown once', {
    example: {
      url: 'https://casino.example.com/hooks/pitboss',
      environment: 'TEST',
      events: ['round.completed'],
    },
    statuses: [201],
    errors: ['CONFLICT'],
    idempotent: true,
  }),
  forwarded(webhooks.getWebhook, 'One endpoint', byId),
  forwarded(webhooks.getWebhookSeries, 'Attempts at an endpoint over time', byId),
  forwarded(webhooks.patchWebhook, 'Change url, events, description or max_in_flight', byId),
  forwarded(webhooks.deleteWebhook, 'Remove an endpoint', { ...byId, statuses: [204] }),
  forwarded(webhooks.rotateWebhookSecret, 'New signing secret; the old one stays valid for a while', byId),
  forwarded(webhooks.testWebhook, 'Send a test delivery', { ...byId, statuses: [202] }),
  forwarded(webhooks.pauseWebhook, 'Hold deliveries', byId),
  forwarded(webhooks.resumeWebhook, 'Deliver again, or skip what was held', byId),
  forwarded(webhooks.createReplay, 'Send events of a period again', {
    ...byId,
    statuses: [202, 200],
    errors: ['CONFLICT'],
    idempotent: true,
  }),
  forwarded(webhooks.listReplays, 'Replay jobs', byId),
  forwarded(webhooks.getReplay, 'One replay job', byId),
  forwarded(
    webhooks.certifyWebhook,
    'Run every case of the webhook contract against a TEST receiver, as a job',
    {
      ...byId,
      statuses: [202],
      errors: ['CONFLICT'],
    },
  ),
  forwarded(webhooks.listWebhookCertifications, 'Certifications of an endpoint, newest first', byId),
  forwarded(webhooks.getWebhookCertification, 'One certification: its progress, then its report', byId),
  forwarded(webhooks.cancelWebhookCertification, 'End a certification that runs', byId),
  forwarded(webhooks.cancelReplay, 'Cancel what was not sent yet', { ...byId, errors: ['CONFLICT'] }),
]
