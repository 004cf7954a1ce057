import { handler, type CallHandler } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
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
import type { AccountMode } from '@pitboss/contracts/primitives'
import type { ChangeEndpoint } from '../actions/change-endpoint.ts'
import type { CreateEndpoint } from '../actions/create-endpoint.ts'
import type { ReadEndpoints } from '../actions/read-endpoints.ts'
import { instantText, presentEndpoint } from '../records/webhook-records.ts'
import { idScopes, queryScope } from './scopes.ts'

/** Webhook endpoints. Source: docs/contract.md, sections 7 and 11. */
export function endpointHandlers({
  readEndpoints,
  createEndpoint,
  changeEndpoint,
}: {
  readEndpoints: ReadEndpoints
  createEndpoint: CreateEndpoint
  changeEndpoint: ChangeEndpoint
}): CallHandler[] {
  return [
    handler(createWebhook.call, async ({ caller, body }) => {
      const scope = queryScope(caller, body.environment)
      const { endpoint, secret } = await createEndpoint(scope, caller.idempotencyKey, body)
      return { status: 201, body: presentEndpoint(endpoint, secret) }
    }),
    handler(listWebhooks.call, async ({ caller, query }) => {
      const { items, nextCursor } = await readEndpoints.list(queryScope(caller, query.environment), query)
      const data = items.map((endpoint) => presentEndpoint(endpoint))
      return { status: 200, body: { data, next_cursor: nextCursor } }
    }),
    handler(getWebhook.call, async (request) => {
      return { status: 200, body: presentEndpoint(await readEndpoints.find(endpointTarget(request))) }
    }),
    handler(patchWebhook.call, async (request) => {
      const endpoint = await changeEndpoint.patch(endpointTarget(request), request.body)
      return { status: 200, body: presentEndpoint(endpoint) }
    }),
    handler(deleteWebhook.call, async (request) => {
      await changeEndpoint.remove(endpointTarget(request))
      return { status: 204, body: null }
    }),
    handler(rotateWebhookSecret.call, async (request) => {
      const { overlap_s: overlapS } = request.body
      const rotated = await changeEndpoint.rotateSecret(endpointTarget(request), overlapS)
      return {
        status: 200,
        body: {
          webhook_id: rotated.webhookId,
          secret: rotated.secret,
          previous_valid_until: instantText(rotated.previousValidUntil),
        },
      }
    }),
    handler(testWebhook.call, async (request) => {
      return { status: 202, body: { delivery_id: await changeEndpoint.sendTest(endpointTarget(request)) } }
    }),
    handler(pauseWebhook.call, async (request) => {
      return { status: 200, body: presentEndpoint(await changeEndpoint.pause(endpointTarget(request))) }
    }),
    handler(resumeWebhook.call, async (request) => {
      const endpoint = await changeEndpoint.resume(endpointTarget(request), request.body.held)
      return { status: 200, body: presentEndpoint(endpoint) }
    }),
  ]
}

/** The endpoint that a request names by its id. */
export function endpointTarget({
  caller,
  params,
  query,
}: {
  caller: Caller
  params: { webhook_id: string }
  query: { environment?: AccountMode | undefined }
}) {
  return { scopes: idScopes(caller, query.environment), webhookId: params.webhook_id }
}
