import { type EventType, eventType } from '@pitboss/contracts/objects/event'
import { ServiceError } from '@pitboss/errors/service-error'
import { paused, resumed } from '../rules/endpoint-health.ts'
import { newWebhookSecret, rotateSecrets } from '../rules/signing-secrets.ts'
import type { EndpointDocument } from '../storage/collections.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import { checkEndpointUrl, refuseCrowd } from './create-endpoint.ts'
import { type EndpointTarget, findEndpoint } from './read-endpoints.ts'
import type { Deps } from './deps.ts'
import { markDue } from './lease-endpoints.ts'

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
export function createChangeEndpoint(deps: Deps) {
  const { endpoints, deliveries, secretCipher, clock, newId, outbound, eventEndpointsMax } = deps
  const find = (target: EndpointTarget) => findEndpoint(endpoints, target)

  const change = async (...args: Parameters<EndpointStore['change']>): Promise<EndpointDocument> => {
    const endpoint = await endpoints.change(...args)
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

  return {
    /** @throws ServiceError VALIDATION_ERROR for a URL that is not called; CONFLICT for too crowded events */
    async patch(
      target: EndpointTarget,
      { url, events, description, max_in_flight: maxInFlight }: EndpointPatch,
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
      const endpoint = await change(found, found._id, () =>
        Object.keys(fields).length === 0 ? null : { $set: fields },
      )
      await markDue(deps, found._id)
      return endpoint
    },

    /** Deletes the endpoint and its secrets, and cancels its deliveries. */
    async remove(target: EndpointTarget): Promise<void> {
      const found = await find(target)
      await endpoints.change(found, found._id, ({ deletedAt }) =>
        deletedAt === null ? { $set: { deletedAt: clock.now(), secrets: [] } } : null,
      )
      await deliveries.cancelAll(found._id)
      await markDue(deps, found._id)
    },

    /** Gives a new secret; the replaced one signs beside it for `overlapS` seconds. */
    async rotateSecret(
      target: EndpointTarget,
      overlapS: number,
    ): Promise<{ webhookId: string; secret: string; previousValidUntil: Date | null }> {
      const found = await find(target)
      const secret = newWebhookSecret()
      const sealed = secretCipher.encrypt(found, secret)
      let previousValidUntil: Date | null = null
      await change(found, found._id, ({ secrets }) => {
        const rotated = rotateSecrets(secrets, { sealed, now: clock.now(), overlapS })
        previousValidUntil = rotated.previousValidUntil
        return { $set: { secrets: rotated.secrets } }
      })
      await markDue(deps, found._id)
      return { webhookId: found._id, secret, previousValidUntil }
    },

    async pause(target: EndpointTarget): Promise<EndpointDocument> {
      const found = await find(target)
      const endpoint = await change(found, found._id, ({ health }) =>
        health.status === 'PAUSED' ? null : { $set: { health: paused(health) } },
      )
      await deliveries.hold(found._id)
      await markDue(deps, found._id)
      return endpoint
    },

    /** @param held whether held deliveries are delivered or cancelled */
    async resume(target: EndpointTarget, held: 'deliver' | 'skip'): Promise<EndpointDocument> {
      const found = await find(target)
      const now = clock.now()
      const endpoint = await change(found, found._id, ({ health }) =>
        health.status === 'ACTIVE'
          ? null
          : { $set: { health: resumed(health), heldRule: { action: held, at: now } } },
      )
      const { heldRule } = endpoint
      await deliveries.release(found._id, heldRule?.action === 'skip' ? heldRule.at : null, now)
      await markDue(deps, found._id)
      return endpoint
    },

    /** Sends one `webhook.test`, also while the endpoint is paused. @returns the id of its delivery */
    async sendTest(target: EndpointTarget): Promise<string> {
      const endpoint = await find(target)
      const now = clock.now()
      const deliveryId = newId('dlv')
      const eventId = newId('evt')
      await deliveries.create([
        {
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
        },
      ])
      await markDue(deps, endpoint._id)
      return deliveryId
    },
  }
}

function testBody(endpoint: EndpointDocument, eventId: string, now: Date): string {
  return JSON.stringify({
    id: eventId,
    type: 'webhook.test',
    created_at: now.toISOString(),
    environment: endpoint.environment,
    operator_id: endpoint.operatorId,
    data: { webhook_id: endpoint._id, message: 'This is a test. Nothing has happened.' },
  })
}
