import { actedBy } from '@pitboss/contracts/audit'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import { toAccountMode } from '@pitboss/contracts/primitives'
import { type EventType, eventType } from '@pitboss/contracts/objects/event'
import type { webhookCreateSchema } from '@pitboss/contracts/objects/webhook'
import { conflict, invalidField } from '@pitboss/errors/service-error'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { checkOutboundUrlAndResolve } from '@pitboss/outbound/address-guard'
import { policyOf } from '../clients/post-webhook.ts'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { createOnce } from '@pitboss/storage/create-once'
import { createIdempotencyKeys } from '@pitboss/storage/idempotency-keys'
import type { z } from 'zod'
import { notifyWorkers } from '../clients/notify-workers.ts'
import { presentEndpoint } from '../records/webhook-records.ts'
import { newHealth } from '../rules/endpoint-health.ts'
import { newSecret } from '@pitboss/runtime/new-secret'
import type { StoredSecret } from '../rules/signing-secrets.ts'
import { wants } from '../rules/subscription.ts'
import type { EndpointDocument } from '../storage/collections.ts'
import type { SecretBox } from '@pitboss/storage/stored-secrets'
import type { WebhooksContext } from '../context.ts'

type NewEndpoint = Omit<z.output<typeof webhookCreateSchema>, 'environment'>
type CreatedEndpoint = { readonly endpoint: EndpointDocument; readonly secret?: string }

/** Opened secrets that are remembered, since each attempt needs one. */
const openedMax = 2000

/**
 * Creates an endpoint, once under the caller's idempotency key, which stands for `body`.
 * @returns the endpoint and its secret; a repeat gets no secret
 * @throws ServiceError VALIDATION_ERROR for a URL that is not called; CONFLICT at 1000 endpoints of a scope,
 * when an event would go to too many, and for a key that was used with another body
 */
export async function createEndpoint(
  c: WebhooksContext,
  { caller, body }: { readonly caller: Caller; readonly body: NewEndpoint },
  call: HandlerContext,
): Promise<CreatedEndpoint> {
  const { endpoints } = c
  const { scope, idempotencyKey } = caller
  const asker = actedBy(caller, call)
  await checkEndpointUrl(c, scope, body.url)
  const { max_in_flight: inFlightMax } = body
  const now = c.clock.now()
  const owner = { scope: { ...scope, environment: 'SANDBOX' as const }, idempotencyKey }
  const creation = { list: 'webhooks', body, now, newId: () => c.newId('whe') }
  const { objectId: _id, fresh } = await createIdempotencyKeys(c).claim(owner, creation)
  const known = async () => {
    const endpoint = fresh ? null : await endpoints.known(scope, _id)
    return endpoint && { endpoint }
  }
  const made = await c.endpointsCap.make<CreatedEndpoint>(scope, known, async () => {
    await refuseCrowd(c, scope, body.events)
    const secret = newSecret('whsec')
    const sealed = c.secretCipher.encrypt({ _id, ...scope }, secret)
    const endpoint: EndpointDocument = {
      ...{ _id, ...scope, version: 1, url: body.url, description: body.description ?? null },
      ...{ events: [...new Set(body.events)], secrets: [{ sealed, createdAt: now, validUntil: null }] },
      ...(inFlightMax === undefined ? {} : { maxInFlight: inFlightMax }),
      health: newHealth(inFlightMax),
      ...{ heldRule: null, createdAt: now, deletedAt: null, beginsAfter: await c.events.endOf(scope) },
      ...{ wakes: 0, leaseOwner: null, leaseToken: 0 },
    }
    const after = presentEndpoint(endpoint)
    const order = { act: 'endpoint.create', url: body.url } as const
    const orderObject = { type: 'endpoint', id: body.url }
    const grave = { by: asker, order, seen: 'none', object: orderObject, before: null, after }
    const by = scope.environment === 'LIVE' ? await c.askApproval(grave, call) : asker
    const object = { type: 'endpoint', id: _id }
    const entry = c.audit.entry(by, { act: 'endpoint.create', object, before: null, after })
    const { result, created } = await createOnce<EndpointDocument>({
      document: endpoint,
      insert: () => endpoints.insert({ ...endpoint, ...auditedInsert(entry) }),
      find: () => endpoints.known(scope, _id),
      name: `endpoint ${_id}`,
    })
    notifyWorkers(c, { ids: [_id] })
    return created ? { endpoint: result, secret } : { endpoint: result }
  })
  // Also for a repeat: who created it may have died before this.
  await endpoints.dropTargets(scope)
  return made
}

/** @throws ServiceError CONFLICT for types too many endpoints have. Source: docs/contract.md, section 8. */
export async function refuseCrowd(c: WebhooksContext, scope: Scope, wanted: readonly EventType[]) {
  const { eventEndpointsMax: max } = c
  const listening = await c.endpoints.ofScope(scope)
  const types = wanted.length === 0 ? eventType.options : wanted
  const type = types.find((one) => listening.filter((endpoint) => wants(endpoint, one)).length >= max)
  if (type === undefined) return
  const message = `An event goes to at most ${max} endpoints of an account; ${type} has as many.`
  throw conflict(message)
}

/** @throws ServiceError VALIDATION_ERROR for a URL that is not called from this environment */
export async function checkEndpointUrl(c: WebhooksContext, { operatorId, environment }: Scope, url: string) {
  const policy = policyOf(c.outbound, toAccountMode(environment))
  const verdict = await checkOutboundUrlAndResolve(url, policy, operatorId)
  if (!verdict.ok) throw invalidField('url', verdict.reason)
}

type Owner = Scope & { readonly _id: string }

export type SecretCipher = ReturnType<typeof createSecretCipher>

/** Encrypts signing secrets, each bound to its endpoint: copied to another one, it does not decrypt. */
export function createSecretCipher(box: SecretBox) {
  const boundTo = ({ _id, operatorId, environment }: Owner) => `webhook/${operatorId}/${environment}/${_id}`
  const opened = new BoundedMap<string, string>(openedMax)
  return {
    encrypt: (owner: Owner, secret: string): string => box.seal(secret, boundTo(owner)),
    decrypt(owner: Owner, { sealed }: StoredSecret): string {
      const aad = boundTo(owner)
      const key = `${aad} ${sealed}`
      const secret = opened.get(key) ?? box.open(sealed, aad)
      opened.set(key, secret)
      return secret
    },
  }
}
