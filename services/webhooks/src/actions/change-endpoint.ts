import { createHash } from 'node:crypto'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import { eventType, type WebhookTest } from '@pitboss/contracts/objects/event'
import type { webhookPatchSchema } from '@pitboss/contracts/objects/webhook'
import { ServiceError } from '@pitboss/errors/service-error'
import { auditedUpdate } from '@pitboss/storage/audit-outbox'
import type { z } from 'zod'
import { presentEndpoint } from '../records/webhook-records.ts'
import { paused, resumed } from '../rules/endpoint-health.ts'
import { narrows, wants } from '../rules/subscription.ts'
import { newSecret } from '@pitboss/runtime/new-secret'
import { rotateSecrets } from '../rules/signing-secrets.ts'
import type { EndpointDocument } from '../storage/collections.ts'
import { checkEndpointUrl, refuseCrowd } from './create-endpoint.ts'
import type { WebhooksContext } from '../context.ts'
import { markDue } from '../clients/notify-workers.ts'
import { pruneDeliveries } from './endpoint-view.ts'

/* Each throws ServiceError NOT_FOUND if deleted meanwhile. Source: docs/contract.md, sections 7 and 11. */

/** The fields to set; null leaves the endpoint as it is, and no record. */
type Decide = (current: EndpointDocument) => Partial<EndpointDocument> | null

function change(c: WebhooksContext, by: ActedBy, act: string, found: EndpointDocument, decide: Decide) {
  return c.endpoints.change(found, found._id, (current) => {
    const fields = decide(current)
    if (fields === null) return null
    const before = presentEndpoint(current)
    const after = fields.deletedAt === undefined ? presentEndpoint({ ...current, ...fields }) : null
    const entry = c.audit.entry(by, { act, object: objectOf(found), before, after })
    // The worker must see the change although this process dies before it notifies anybody.
    return auditedUpdate<EndpointDocument>({ $set: fields, $inc: { wakes: 1 } }, entry)
  })
}

const objectOf = ({ _id: id }: EndpointDocument) => ({ type: 'endpoint', id })

async function changePresent(...args: Parameters<typeof change>): Promise<EndpointDocument> {
  const endpoint = await change(...args)
  if (endpoint === null || endpoint.deletedAt !== null) throw new ServiceError('NOT_FOUND')
  return endpoint
}

/**
 * Cancels what waits of types that are taken off. Another address of a LIVE endpoint is a grave act.
 * @throws ServiceError VALIDATION_ERROR for a URL that is not called; CONFLICT for too crowded events;
 * APPROVAL_NEEDED where the account wants a second person
 */
export async function patchEndpoint(
  c: WebhooksContext,
  found: EndpointDocument,
  { caller, body }: { readonly caller: Caller; readonly body: z.output<typeof webhookPatchSchema> },
  call: HandlerContext,
): Promise<EndpointDocument> {
  const { url, events, description, max_in_flight: maxInFlight } = body
  if (url !== undefined) await checkEndpointUrl(c, found, url)
  if (events !== undefined) {
    // Those that it has already are no more.
    const wanted = events.length === 0 ? eventType.options : events
    const more = wanted.filter((type) => !wants(found, type))
    if (more.length > 0) await refuseCrowd(c, found, more)
  }
  const fields = {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: [...new Set(events)] }),
    ...(description === undefined ? {} : { description }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
  }
  // What was recorded before the change goes by the former list.
  const end = await c.events.endOf(found)
  let by = actedBy(caller, call)
  if (url !== undefined && url !== found.url && found.environment === 'LIVE') {
    const seen = createHash('sha256').update(found.url).digest('base64url')
    const order = { act: 'endpoint.change', webhook_id: found._id, url } as const
    const [before, after] = [presentEndpoint(found), presentEndpoint({ ...found, url })]
    by = await c.askApproval({ by, order, seen, object: objectOf(found), before, after }, call)
  }
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

export async function removeEndpoint(c: WebhooksContext, found: EndpointDocument, by: ActedBy) {
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
  found: EndpointDocument,
  overlapS: number,
  by: ActedBy,
) {
  const secret = newSecret('whsec')
  const sealed = c.secretCipher.encrypt(found, secret)
  let previousValidUntil: Date | null = null
  await changePresent(c, by, 'endpoint.rotate-secret', found, ({ secrets }) => {
    const rotated = rotateSecrets(secrets, { sealed, now: c.clock.now(), overlapS })
    previousValidUntil = rotated.previousValidUntil
    return { secrets: rotated.secrets }
  })
  await markDue(c, found._id)
  return { secret, previousValidUntil }
}

export async function pauseEndpoint(c: WebhooksContext, found: EndpointDocument, by: ActedBy) {
  const endpoint = await changePresent(c, by, 'endpoint.pause', found, ({ health }) =>
    health.status === 'PAUSED' ? null : { health: paused(health) },
  )
  await c.deliveries.hold(found._id)
  await markDue(c, found._id)
  return endpoint
}

type Held = 'deliver' | 'skip'

/** Ends a pause. @param held whether held deliveries are delivered or cancelled */
export async function resumeEndpoint(c: WebhooksContext, found: EndpointDocument, held: Held, by: ActedBy) {
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
export async function sendTest(c: WebhooksContext, endpoint: EndpointDocument, by: ActedBy): Promise<string> {
  const { _id: webhookId, operatorId, environment } = endpoint
  const createdAt = c.clock.now()
  const [_id, eventId, eventType] = [c.newId('dlv'), c.newId('evt'), 'webhook.test' as const]
  const test: WebhookTest = {
    ...{ id: eventId, type: eventType, created_at: createdAt.toISOString(), environment },
    operator_id: operatorId,
    data: { webhook_id: webhookId, message: 'This is a test. Nothing has happened.' },
  }
  const after = { delivery_id: _id, event_id: eventId }
  const entry = c.audit.entry(by, { act: 'endpoint.test', object: objectOf(endpoint), before: null, after })
  const ids = { _id, operatorId, environment, webhookId, eventId, eventType, createdAt }
  const testBody = JSON.stringify(test)
  await c.deliveries.createOne({ ...ids, lane: 'manual', single: true, testBody }, entry)
  await markDue(c, webhookId)
  return _id
}
