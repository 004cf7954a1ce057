import { handler, type CallHandler } from '@pitboss/bus/serve-calls'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  patchWebhook,
  pauseWebhook,
  resumeWebhook,
  rotateWebhookSecret,
  testWebhook,
} from '@pitboss/contracts/endpoints/webhooks'
import { toHappening, toSetup } from '@pitboss/contracts/environments'
import { type HappeningEnvironment, type SetupEnvironment, webhookId } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { checkOutboundUrlAndResolve } from '@pitboss/outbound/address-guard'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { claimIdempotencyKey, hashBody } from '@pitboss/storage/idempotency-keys'
import { isDuplicateKey } from '@pitboss/storage/is-duplicate-key'
import type { SecretBox } from '@pitboss/storage/secret-box'
import { type Db } from 'mongodb'
import { z } from 'zod'
import { freshHealth, paused, resumed } from '../rules/endpoint-health.ts'
import { newWebhookSecret, rotateSecrets } from '../rules/signing-secrets.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import { type EndpointDocument, never } from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import { secretOwnerText } from '../actions/open-secret.ts'
import { idScopes, queryScope } from './events.ts'
import { endpointView, instantText } from '../records/views.ts'

const endpointsMax = 1000
const list = 'webhooks'

export type EndpointsDeps = {
  db: Db
  endpoints: EndpointStore
  deliveries: DeliveryStore
  secretBox: SecretBox
  cursors: CursorCodec
  clock: Clock
  newId: (prefix: string) => string
  /** TEST endpoints may be on this machine. */
  allowLoopback: boolean
  wake: (webhookIds: readonly string[]) => void
}

/** Webhook endpoints. Source: contract sections 7 and 11. */
export function endpointHandlers(deps: EndpointsDeps): CallHandler[] {
  const { endpoints, deliveries, secretBox, cursors, clock, newId } = deps

  /** Lets the workers see a change of the endpoint at once. */
  async function stir(id: string): Promise<void> {
    await endpoints.lowerDue([id], clock.now())
    deps.wake([id])
  }

  const seal = (endpoint: Pick<EndpointDocument, '_id' | 'operatorId' | 'environment'>, secret: string) =>
    secretBox.seal(secret, secretOwnerText(endpoint))

  const changed = async (...change: Parameters<EndpointStore['change']>): Promise<EndpointDocument> => {
    const endpoint = await endpoints.change(...change)
    if (endpoint === null || endpoint.deletedAt !== null) throw new ServiceError('NOT_FOUND')
    return endpoint
  }

  return [
    handler(createWebhook.call, async ({ caller, body }) => {
      const scope: Scope = {
        operatorId: caller.scope.operatorId,
        environment: toHappening(body.environment),
      }
      await checkUrl(body.url, scope.environment, deps.allowLoopback)
      const now = clock.now()
      const id = await claimId(deps, caller, scope, body, now)
      const present = id.fresh ? null : await endpoints.known(scope, id.objectId)
      if (present !== null) return { status: 201, body: endpointView(present) }
      if ((await endpoints.count(scope)) >= endpointsMax) {
        throw new ServiceError('CONFLICT', { message: `An account can have ${endpointsMax} endpoints.` })
      }
      const secret = newWebhookSecret()
      const endpoint: EndpointDocument = {
        _id: id.objectId,
        ...scope,
        version: 1,
        url: body.url,
        description: body.description ?? null,
        events: [...new Set(body.events)],
        secrets: [{ sealed: seal({ _id: id.objectId, ...scope }, secret), createdAt: now, validUntil: null }],
        health: freshHealth,
        heldRule: null,
        createdAt: now,
        deletedAt: null,
        dueAt: never,
        wakes: 0,
        leaseOwner: null,
        leaseToken: 0,
      }
      try {
        await endpoints.insert(endpoint)
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        const first = await endpoints.known(scope, id.objectId)
        if (first === null) throw error
        return { status: 201, body: endpointView(first) }
      }
      return { status: 201, body: endpointView(endpoint, secret) }
    }),

    handler(listWebhooks.call, async ({ caller, query }) => {
      const scope = queryScope(caller, query.environment)
      const binding = [list, scope.operatorId, scope.environment]
      const before =
        query.cursor === undefined ? null : z.string().parse(cursors.decode(binding, query.cursor))
      const found = await endpoints.list(scope, before, query.limit + 1)
      const page = found.slice(0, query.limit)
      const last = page.at(-1)
      const more = found.length > query.limit && last !== undefined
      return {
        status: 200,
        body: {
          data: page.map((endpoint) => endpointView(endpoint)),
          next_cursor: more ? cursors.encode(binding, last._id) : null,
        },
      }
    }),

    handler(getWebhook.call, async ({ caller, params, query }) => {
      const endpoint = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      return { status: 200, body: endpointView(endpoint) }
    }),

    handler(patchWebhook.call, async ({ caller, params, query, body }) => {
      const found = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      const { _id, environment } = found
      if (body.url !== undefined) await checkUrl(body.url, environment, deps.allowLoopback)
      const fields = {
        ...(body.url === undefined ? {} : { url: body.url }),
        ...(body.events === undefined ? {} : { events: [...new Set(body.events)] }),
        ...(body.description === undefined ? {} : { description: body.description }),
      }
      const endpoint = await changed(found, _id, () =>
        Object.keys(fields).length === 0 ? null : { $set: fields },
      )
      await stir(_id)
      return { status: 200, body: endpointView(endpoint) }
    }),

    handler(deleteWebhook.call, async ({ caller, params, query }) => {
      const found = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      const { _id } = found
      await endpoints.change(found, _id, ({ deletedAt }) =>
        deletedAt === null ? { $set: { deletedAt: clock.now(), secrets: [] } } : null,
      )
      await deliveries.cancelAll(_id)
      await stir(_id)
      return { status: 204, body: null }
    }),

    handler(rotateWebhookSecret.call, async ({ caller, params, query, body }) => {
      const found = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      const secret = newWebhookSecret()
      const sealed = seal(found, secret)
      let previousValidUntil: Date | null = null
      await changed(found, found._id, ({ secrets }) => {
        const rotated = rotateSecrets(secrets, { sealed, now: clock.now(), overlapS: body.overlap_s })
        previousValidUntil = rotated.previousValidUntil
        return { $set: { secrets: rotated.secrets } }
      })
      await stir(found._id)
      return {
        status: 200,
        body: { webhook_id: found._id, secret, previous_valid_until: instantText(previousValidUntil) },
      }
    }),

    handler(testWebhook.call, async ({ caller, params, query }) => {
      const endpoint = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
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
      await stir(endpoint._id)
      return { status: 202, body: { delivery_id: deliveryId } }
    }),

    handler(pauseWebhook.call, async ({ caller, params, query }) => {
      const found = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      const { _id } = found
      const endpoint = await changed(found, _id, ({ health }) =>
        health.status === 'PAUSED' ? null : { $set: { health: paused(health) } },
      )
      await deliveries.hold(_id)
      await stir(_id)
      return { status: 200, body: endpointView(endpoint) }
    }),

    handler(resumeWebhook.call, async ({ caller, params, query, body }) => {
      const found = await findEndpoint(endpoints, caller, params.webhook_id, query.environment)
      const { _id } = found
      const now = clock.now()
      const endpoint = await changed(found, _id, ({ health }) =>
        health.status === 'ACTIVE'
          ? null
          : { $set: { health: resumed(health), heldRule: { action: body.held, at: now } } },
      )
      const { heldRule } = endpoint
      await deliveries.release(_id, heldRule?.action === 'skip' ? heldRule.at : null, now)
      await stir(_id)
      return { status: 200, body: endpointView(endpoint) }
    }),
  ]
}

/** @throws ServiceError NOT_FOUND for an unknown, foreign or deleted endpoint, and for a malformed id. */
export async function findEndpoint(
  endpoints: EndpointStore,
  caller: Caller,
  id: string,
  environment: SetupEnvironment | undefined,
): Promise<EndpointDocument> {
  if (webhookId.safeParse(id).success) {
    for (const scope of idScopes(caller, environment)) {
      const endpoint = await endpoints.find(scope, id)
      if (endpoint !== null) return endpoint
    }
  }
  throw new ServiceError('NOT_FOUND')
}

async function checkUrl(
  url: string,
  environment: HappeningEnvironment,
  allowLoopback: boolean,
): Promise<void> {
  const setup = toSetup(environment)
  const verdict = await checkOutboundUrlAndResolve(url, {
    environment: setup,
    allowLoopback: setup === 'TEST' && allowLoopback,
  })
  if (!verdict.ok) throw invalidField('url', verdict.reason)
}

async function claimId(
  { db, newId }: EndpointsDeps,
  caller: Caller,
  scope: Scope,
  body: unknown,
  now: Date,
): Promise<{ objectId: string; fresh: boolean }> {
  const newWebhookId = () => newId('whe')
  const { idempotencyKey: key } = caller
  if (key === null) return { objectId: newWebhookId(), fresh: true }
  return claimIdempotencyKey({
    db,
    scope: { operatorId: scope.operatorId, environment: 'SANDBOX' },
    list,
    key,
    bodyHash: hashBody(body),
    newId: newWebhookId,
    now,
  })
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
