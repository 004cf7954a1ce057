import { createHash } from 'node:crypto'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { ActedBy } from '@pitboss/contracts/audit'
import { type EventType, eventType, type WebhookTest } from '@pitboss/contracts/objects/event'
import type { webhookPatchSchema } from '@pitboss/contracts/objects/webhook'
import { ServiceError } from '@pitboss/errors/service-error'
import { auditedUpdate } from '@pitboss/storage/audit-outbox'
import type { z } from 'zod'
import { presentEndpoint } from '../records/webhook-records.ts'
import { paused, resumed } from '../rules/endpoint-health.ts'
import { narrows } from '../rules/subscription.ts'
import { newSecret } from '@pitboss/runtime/new-secret'
import { rotateSecrets } from '../rules/signing-secrets.ts'
import type { EndpointDocument } from '../storage/collections.ts'
import type { NewDelivery } from '../storage/new-delivery.ts'
import { checkEndpointUrl, refuseCrowd } from './create-endpoint.ts'
import { type EndpointTarget, findEndpoint } from './read-endpoints.ts'
import type { WebhooksContext } from '../context.ts'
import { markDue } from './mark-due.ts'
import { pruneDeliveries } from './endpoint-view.ts'

type EndpointPatch = z.output<typeof webhookPatchSchema>

/*
 * Each has the endpoint's worker see its change at once. Each throws ServiceError NOT_FOUND. Source:
 * docs/contract.md, sections 7 and 11.
 */

/** @param decide the fields to set; null leaves the endpoint as it is, and no record */
async function change(
  { endpoints, audit }: WebhooksContext,
  by: ActedBy,
  act: string,
  found: EndpointDocument,
  decide: (current: EndpointDocument) => Partial<EndpointDocument> | null,
): Promise<EndpointDocument | null> {
  const object = { type: 'endpoint', id: found._id }
  return endpoints.change(found, found._id, (current) => {
    const fields = decide(current)
    if (fields === null) return null
    const after = fields.deletedAt === undefined ? presentEndpoint({ ...current, ...fields }) : null
    const entry = audit.entry(by, { act, object, before: presentEndpoint(current), after })
    // A worker has to look although this process dies before it says so.
    return auditedUpdate<EndpointDocument>({ $set: fields, $inc: { wakes: 1 } }, entry)
  })
}

async function changePresent(...args: Parameters<typeof change>): Promise<EndpointDocument> {
  const endpoint = await change(...args)
  if (endpoint === null || endpoint.deletedAt !== null) throw new ServiceError('NOT_FOUND')
  return endpoint
}

/** Types that the endpoint has already are no more. @throws ServiceError CONFLICT */
async function refuseMoreEvents(
  { endpoints, eventEndpointsMax }: WebhooksContext,
  found: EndpointDocument,
  wanted: readonly EventType[],
): Promise<void> {
  if (found.events.length === 0) return
  const all = wanted.length === 0 ? eventType.options : wanted
  const more = all.filter((type) => !found.events.includes(type))
  if (more.length > 0) refuseCrowd(more, await endpoints.ofScope(found), eventEndpointsMax)
}

function redirection(found: EndpointDocument, url: string, by: ActedBy) {
  const seen = createHash('sha256').update(found.url).digest('base64url')
  return {
    ...{ by, order: { act: 'endpoint.change', webhook_id: found._id, url } as const, seen },
    ...{ object: { type: 'endpoint', id: found._id }, before: presentEndpoint(found) },
    after: presentEndpoint({ ...found, url }),
  }
}

/**
 * Cancels what waits of types that are taken off. Another address of a LIVE endpoint is a grave act.
 * @throws ServiceError VALIDATION_ERROR for a URL that is not called; CONFLICT for too crowded events;
 * APPROVAL_NEEDED where the account wants a second person
 */
export async function patchEndpoint(
  c: WebhooksContext,
  target: EndpointTarget,
  { url, events, description, max_in_flight: maxInFlight }: EndpointPatch,
  asker: ActedBy,
  context: HandlerContext,
): Promise<EndpointDocument> {
  const found = await findEndpoint(c.endpoints, target)
  if (url !== undefined) await checkEndpointUrl(url, found, c.outbound)
  if (events !== undefined) await refuseMoreEvents(c, found, events)
  const fields = {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: [...new Set(events)] }),
    ...(description === undefined ? {} : { description }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
  }
  // What was recorded before the change goes by the former list.
  const end = await c.events.endOf(found)
  const isRedirected = url !== undefined && url !== found.url && found.environment === 'LIVE'
  const by = isRedirected ? await c.askApproval(redirection(found, url, asker), context) : asker
  const endpoint = await changePresent(c, by, 'endpoint.change', found, (current) => {
    if (Object.keys(fields).length === 0) return null
    if (events === undefined || !narrows(current.events, events)) return fields
    const narrowings = [...(current.narrowings ?? []), { to: end, events: [...new Set(events)] }]
    return { ...fields, narrowings, narrowed: { at: c.clock.now(), replayId: c.newId('rpl') } }
  })
  if (events !== undefined) await c.endpoints.dropTargets(found)
  await pruneDeliveries(c, endpoint)
  await markDue(c, found._id)
  return endpoint
}

/** Deletes the endpoint and its secrets, and cancels its deliveries. */
export async function removeEndpoint(c: WebhooksContext, target: EndpointTarget, by: ActedBy): Promise<void> {
  const found = await findEndpoint(c.endpoints, target)
  await change(c, by, 'endpoint.delete', found, ({ deletedAt }) =>
    deletedAt === null ? { deletedAt: c.clock.now(), closing: true, secrets: [] } : null,
  )
  await c.endpoints.dropTargets(found)
  await c.deliveries.cancelAll(found._id)
  await markDue(c, found._id)
}

/** Gives a new secret; the replaced one signs beside it for `overlapS` seconds. */
export async function rotateSecret(
  c: WebhooksContext,
  target: EndpointTarget,
  overlapS: number,
  by: ActedBy,
): Promise<{ webhookId: string; secret: string; previousValidUntil: Date | null }> {
  const found = await findEndpoint(c.endpoints, target)
  const secret = newSecret('whsec')
  const sealed = c.secretCipher.encrypt(found, secret)
  let previousValidUntil: Date | null = null
  await changePresent(c, by, 'endpoint.rotate-secret', found, ({ secrets }) => {
    const rotated = rotateSecrets(secrets, { sealed, now: c.clock.now(), overlapS })
    previousValidUntil = rotated.previousValidUntil
    return { secrets: rotated.secrets }
  })
  await markDue(c, found._id)
  return { webhookId: found._id, secret, previousValidUntil }
}

export async function pauseEndpoint(
  c: WebhooksContext,
  target: EndpointTarget,
  by: ActedBy,
): Promise<EndpointDocument> {
  const found = await findEndpoint(c.endpoints, target)
  const endpoint = await changePresent(c, by, 'endpoint.pause', found, ({ health }) =>
    health.status === 'PAUSED' ? null : { health: paused(health) },
  )
  await c.deliveries.hold(found._id)
  await markDue(c, found._id)
  return endpoint
}

/** Ends a pause. @param held whether held deliveries are delivered or cancelled */
export async function resumeEndpoint(
  c: WebhooksContext,
  target: EndpointTarget,
  held: 'deliver' | 'skip',
  by: ActedBy,
): Promise<EndpointDocument> {
  const found = await findEndpoint(c.endpoints, target)
  const now = c.clock.now()
  const skippedTo = held === 'skip' ? { skippedTo: await c.events.endOf(found) } : {}
  const endpoint = await changePresent(c, by, 'endpoint.resume', found, ({ health }) =>
    health.status === 'ACTIVE'
      ? null
      : { health: resumed(health), heldRule: { action: held, at: now }, ...skippedTo },
  )
  const { heldRule } = endpoint
  await c.deliveries.release(found._id, heldRule?.action === 'skip' ? heldRule.at : null, now)
  await markDue(c, found._id)
  return endpoint
}

/** Sends one `webhook.test`, also while the endpoint is paused. @returns the id of its delivery */
export async function sendTest(c: WebhooksContext, target: EndpointTarget, by: ActedBy): Promise<string> {
  const endpoint = await findEndpoint(c.endpoints, target)
  const { _id: webhookId, operatorId, environment } = endpoint
  const now = c.clock.now()
  const [deliveryId, eventId] = [c.newId('dlv'), c.newId('evt')]
  const delivery: NewDelivery = {
    ...{ _id: deliveryId, operatorId, environment, webhookId, eventId, createdAt: now },
    ...{
      eventType: 'webhook.test',
      lane: 'manual',
      single: true,
      testBody: testBody(endpoint, eventId, now),
    },
  }
  const object = { type: 'endpoint', id: webhookId }
  const after = { delivery_id: deliveryId, event_id: eventId }
  await c.deliveries.createOne(
    delivery,
    c.audit.entry(by, { act: 'endpoint.test', object, before: null, after }),
  )
  await markDue(c, webhookId)
  return deliveryId
}

function testBody(endpoint: EndpointDocument, eventId: string, now: Date): string {
  const test: WebhookTest = {
    id: eventId,
    type: 'webhook.test',
    created_at: now.toISOString(),
    environment: endpoint.environment,
    operator_id: endpoint.operatorId,
    data: { webhook_id: endpoint._id, message: 'This is a test. Nothing has happened.' },
  }
  return JSON.stringify(test)
}
