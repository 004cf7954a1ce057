import { createHash } from 'node:crypto'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { ActedBy } from '@pitboss/contracts/audit'
import { type EventType, eventType, type WebhookTest } from '@pitboss/contracts/objects/event'
import { ServiceError } from '@pitboss/errors/service-error'
import { auditedUpdate } from '@pitboss/storage/audit-outbox'
import { presentEndpoint } from '../records/webhook-records.ts'
import { paused, resumed } from '../rules/endpoint-health.ts'
import { narrows } from '../rules/subscription.ts'
import { newWebhookSecret, rotateSecrets } from '../rules/signing-secrets.ts'
import type { EndpointDocument } from '../storage/collections.ts'
import { checkEndpointUrl, refuseCrowd } from './create-endpoint.ts'
import { type EndpointTarget, findEndpoint } from './read-endpoints.ts'
import type { WebhooksContext } from '../context.ts'
import { markDue } from './mark-due.ts'
import { pruneDeliveries } from './prune-deliveries.ts'

type EndpointPatch = {
  readonly url?: string | undefined
  readonly events?: readonly EventType[] | undefined
  readonly description?: string | null | undefined
  readonly max_in_flight?: number | undefined
}

/**
 * Changes an endpoint that a caller names, and has its worker see the change at once. Each throws
 * ServiceError NOT_FOUND for an unknown, foreign or deleted endpoint. Source: docs/contract.md, sections 7
 * and 11.
 */
export function createChangeEndpoint(deps: WebhooksContext) {
  const { endpoints, deliveries, events: log, audit, secretCipher, clock, newId } = deps
  const { outbound, eventEndpointsMax } = deps
  const { askApproval } = deps
  const find = (target: EndpointTarget) => findEndpoint(endpoints, target)

  /** @param decide the fields to set; null leaves the endpoint as it is, and no record */
  const change = async (
    by: ActedBy,
    act: string,
    found: EndpointDocument,
    decide: (current: EndpointDocument) => Partial<EndpointDocument> | null,
  ): Promise<EndpointDocument | null> =>
    endpoints.change(found, found._id, (current) => {
      const fields = decide(current)
      if (fields === null) return null
      const entry = audit.entry(by, {
        act,
        object: { type: 'endpoint', id: found._id },
        before: presentEndpoint(current),
        after: fields.deletedAt === undefined ? presentEndpoint({ ...current, ...fields }) : null,
      })
      // A worker has to look although this process dies before it says so.
      return auditedUpdate<EndpointDocument>({ $set: fields, $inc: { wakes: 1 } }, entry)
    })

  const changePresent = async (...args: Parameters<typeof change>): Promise<EndpointDocument> => {
    const endpoint = await change(...args)
    if (endpoint === null || endpoint.deletedAt !== null) throw new ServiceError('NOT_FOUND')
    return endpoint
  }

  /** Types that the endpoint has already are no more. @throws ServiceError CONFLICT */
  async function refuseMoreEvents(found: EndpointDocument, wanted: readonly EventType[]): Promise<void> {
    if (found.events.length === 0) return
    const all = wanted.length === 0 ? eventType.options : wanted
    const more = all.filter((type) => !found.events.includes(type))
    if (more.length > 0) refuseCrowd(more, await endpoints.ofScope(found), eventEndpointsMax)
  }

  function askToRedirect(found: EndpointDocument, url: string, by: ActedBy, context: HandlerContext) {
    const grave = {
      by,
      ...{ order: { act: 'endpoint.change', webhook_id: found._id, url } as const, seen: seenUrl(found.url) },
      ...{ object: { type: 'endpoint', id: found._id }, before: presentEndpoint(found) },
      after: presentEndpoint({ ...found, url }),
    }
    return askApproval(grave, context)
  }

  return {
    /**
     * Cancels what waits of types that are taken off; what is in flight is settled by its outcome. Another
     * address of a LIVE endpoint is a grave act.
     * @throws ServiceError VALIDATION_ERROR for a URL that is not called; CONFLICT for too crowded events;
     * APPROVAL_NEEDED where the account wants a second person
     */
    async patch(
      target: EndpointTarget,
      { url, events, description, max_in_flight: maxInFlight }: EndpointPatch,
      asker: ActedBy,
      context: HandlerContext,
    ): Promise<EndpointDocument> {
      const found = await find(target)
      if (url !== undefined) await checkEndpointUrl(url, found, outbound)
      if (events !== undefined) await refuseMoreEvents(found, events)
      const fields = {
        ...(url === undefined ? {} : { url }),
        ...(events === undefined ? {} : { events: [...new Set(events)] }),
        ...(description === undefined ? {} : { description }),
        ...(maxInFlight === undefined ? {} : { maxInFlight }),
      }
      // What was recorded before the change goes by the former list.
      const end = await log.endOf(found)
      const isRedirected = url !== undefined && url !== found.url && found.environment === 'LIVE'
      const by = isRedirected ? await askToRedirect(found, url, asker, context) : asker
      const endpoint = await changePresent(by, 'endpoint.change', found, (current) => {
        if (Object.keys(fields).length === 0) return null
        if (events === undefined || !narrows(current.events, events)) return fields
        const narrowings = [...(current.narrowings ?? []), { to: end, events: [...new Set(events)] }]
        return { ...fields, narrowings, narrowed: { at: clock.now(), replayId: newId('rpl') } }
      })
      await pruneDeliveries(deps, endpoint)
      await markDue(deps, found._id)
      return endpoint
    },

    /** Deletes the endpoint and its secrets, and cancels its deliveries. */
    async remove(target: EndpointTarget, by: ActedBy): Promise<void> {
      const found = await find(target)
      await change(by, 'endpoint.delete', found, ({ deletedAt }) =>
        deletedAt === null ? { deletedAt: clock.now(), closing: true, secrets: [] } : null,
      )
      await deliveries.cancelAll(found._id)
      await markDue(deps, found._id)
    },

    /** Gives a new secret; the replaced one signs beside it for `overlapS` seconds. */
    async rotateSecret(
      target: EndpointTarget,
      overlapS: number,
      by: ActedBy,
    ): Promise<{ webhookId: string; secret: string; previousValidUntil: Date | null }> {
      const found = await find(target)
      const secret = newWebhookSecret()
      const sealed = secretCipher.encrypt(found, secret)
      let previousValidUntil: Date | null = null
      await changePresent(by, 'endpoint.rotate-secret', found, ({ secrets }) => {
        const rotated = rotateSecrets(secrets, { sealed, now: clock.now(), overlapS })
        previousValidUntil = rotated.previousValidUntil
        return { secrets: rotated.secrets }
      })
      await markDue(deps, found._id)
      return { webhookId: found._id, secret, previousValidUntil }
    },

    async pause(target: EndpointTarget, by: ActedBy): Promise<EndpointDocument> {
      const found = await find(target)
      const endpoint = await changePresent(by, 'endpoint.pause', found, ({ health }) =>
        health.status === 'PAUSED' ? null : { health: paused(health) },
      )
      await deliveries.hold(found._id)
      await markDue(deps, found._id)
      return endpoint
    },

    /** @param held whether held deliveries are delivered or cancelled */
    async resume(target: EndpointTarget, held: 'deliver' | 'skip', by: ActedBy): Promise<EndpointDocument> {
      const found = await find(target)
      const now = clock.now()
      const skippedTo = held === 'skip' ? { skippedTo: await log.endOf(found) } : {}
      const endpoint = await changePresent(by, 'endpoint.resume', found, ({ health }) =>
        health.status === 'ACTIVE'
          ? null
          : { health: resumed(health), heldRule: { action: held, at: now }, ...skippedTo },
      )
      const { heldRule } = endpoint
      await deliveries.release(found._id, heldRule?.action === 'skip' ? heldRule.at : null, now)
      await markDue(deps, found._id)
      return endpoint
    },

    /** Sends one `webhook.test`, also while the endpoint is paused. @returns the id of its delivery */
    async sendTest(target: EndpointTarget, by: ActedBy): Promise<string> {
      const endpoint = await find(target)
      const now = clock.now()
      const deliveryId = newId('dlv')
      const eventId = newId('evt')
      const delivery = {
        _id: deliveryId,
        operatorId: endpoint.operatorId,
        environment: endpoint.environment,
        webhookId: endpoint._id,
        eventId,
        eventType: 'webhook.test',
        lane: 'manual',
        single: true,
        createdAt: now,
        testBody: testBody(endpoint, eventId, now),
      } as const
      const object = { type: 'endpoint', id: endpoint._id }
      const after = { delivery_id: deliveryId, event_id: eventId }
      const entry = audit.entry(by, { act: 'endpoint.test', object, before: null, after })
      await deliveries.createOne(delivery, entry)
      await markDue(deps, endpoint._id)
      return deliveryId
    },
  }
}

/** Names the address that an approval was asked for. */
function seenUrl(url: string): string {
  return createHash('sha256').update(url).digest('base64url')
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
