import { actedBy } from '@pitboss/contracts/audit'
import { type Caller, lookupScopes } from '@pitboss/contracts/caller'
import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { answerPage } from '@pitboss/storage/read-page'
import * as changes from '../actions/change-endpoint.ts'
import { createEndpoint } from '../actions/create-endpoint.ts'
import type { CallsContext } from '../context.ts'
import { listEndpoints, showEndpoint } from '../actions/read-endpoints.ts'
import { instantText, presentEndpoint } from '../records/webhook-records.ts'
import { readAttemptSeries } from '../actions/read-attempt-series.ts'

/** Webhook endpoints. Source: docs/contract.md, sections 7 and 11. */
export function endpointHandlers(deps: CallsContext): CallHandler[] {
  return [
    handler(endpoints.createWebhook.call, async ({ caller, body }, context) => {
      const { scope, idempotencyKey } = caller
      const by = actedBy(caller, context)
      const { endpoint, secret } = await createEndpoint(deps, scope, idempotencyKey, body, by, context)
      return answer(presentEndpoint(endpoint, secret), 201)
    }),
    handler(endpoints.listWebhooks.call, async ({ caller, query }) => {
      const page = await listEndpoints(deps, caller.scope, query)
      return answerPage(page, (endpoint) => presentEndpoint(endpoint))
    }),
    handler(endpoints.getWebhook.call, async (request) => {
      const { endpoint, held } = await showEndpoint(deps, endpointTarget(request))
      return answer({ ...presentEndpoint(endpoint), held })
    }),
    handler(endpoints.getWebhookSeries.call, async (request) =>
      answer(await readAttemptSeries(deps, endpointTarget(request), request.query)),
    ),
    handler(endpoints.patchWebhook.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const endpoint = await changes.patchEndpoint(deps, endpointTarget(request), request.body, by, context)
      return answer(presentEndpoint(endpoint))
    }),
    handler(endpoints.deleteWebhook.call, async (request, context) => {
      await changes.removeEndpoint(deps, endpointTarget(request), actedBy(request.caller, context))
      return answer(null, 204)
    }),
    handler(endpoints.rotateWebhookSecret.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const target = endpointTarget(request)
      const rotated = await changes.rotateSecret(deps, target, request.body.overlap_s, by)
      const { webhookId, secret, previousValidUntil } = rotated
      const until = instantText(previousValidUntil)
      return answer({ webhook_id: webhookId, secret, previous_valid_until: until })
    }),
    handler(endpoints.testWebhook.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      return answer({ delivery_id: await changes.sendTest(deps, endpointTarget(request), by) }, 202)
    }),
    handler(endpoints.pauseWebhook.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      return answer(presentEndpoint(await changes.pauseEndpoint(deps, endpointTarget(request), by)))
    }),
    handler(endpoints.resumeWebhook.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const endpoint = await changes.resumeEndpoint(deps, endpointTarget(request), request.body.held, by)
      return answer(presentEndpoint(endpoint))
    }),
  ]
}

export function endpointTarget({ caller, params }: { caller: Caller; params: { webhook_id: string } }) {
  return { scopes: lookupScopes(caller), webhookId: params.webhook_id }
}
