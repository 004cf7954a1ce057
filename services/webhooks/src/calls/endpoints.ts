import { actedBy } from '@pitboss/contracts/audit'
import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import { type AccountMode, toEventEnvironment } from '@pitboss/contracts/primitives'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { answerPage } from '@pitboss/storage/read-page'
import * as changes from '../actions/change-endpoint.ts'
import { createEndpoint } from '../actions/create-endpoint.ts'
import type { CallsContext } from '../context.ts'
import { listEndpoints, showEndpoint } from '../actions/read-endpoints.ts'
import { instantText, presentEndpoint, presentReplay } from '../records/webhook-records.ts'
import { cancelReplay, findReplay, listReplays } from '../actions/read-replays.ts'
import { readAttemptSeries } from '../actions/read-attempt-series.ts'
import { startReplay } from '../actions/start-replay.ts'

/** The scope of a list: the environment that the query names, else the caller's. */
export function queryScope(caller: Caller, environment: AccountMode | undefined): Scope {
  if (environment === undefined) return caller.scope
  return { operatorId: caller.scope.operatorId, environment: toEventEnvironment(environment) }
}

/** The scopes in which an object named by its id may be found, in the order in which to look. */
export function idScopes(caller: Caller, environment: AccountMode | undefined): Scope[] {
  return environment === undefined ? lookupScopes(caller) : [queryScope(caller, environment)]
}

/** Webhook endpoints. Source: docs/contract.md, sections 7 and 11. */
export function endpointHandlers(deps: CallsContext): CallHandler[] {
  return [
    handler(endpoints.createWebhook.call, async ({ caller, body }, context) => {
      const scope = queryScope(caller, body.environment)
      const by = actedBy(caller, context)
      const { endpoint, secret } = await createEndpoint(deps, scope, caller.idempotencyKey, body, by, context)
      return { status: 201, body: presentEndpoint(endpoint, secret) }
    }),
    handler(endpoints.listWebhooks.call, async ({ caller, query }) => {
      const { items, nextCursor } = await listEndpoints(deps, queryScope(caller, query.environment), query)
      const data = items.map((endpoint) => presentEndpoint(endpoint))
      return { status: 200, body: { data, next_cursor: nextCursor } }
    }),
    handler(endpoints.getWebhook.call, async (request) => {
      const { endpoint, held } = await showEndpoint(deps, endpointTarget(request))
      return { status: 200, body: { ...presentEndpoint(endpoint), held } }
    }),
    handler(endpoints.getWebhookSeries.call, async (request) => ({
      status: 200,
      body: await readAttemptSeries(deps, endpointTarget(request), request.query),
    })),
    handler(endpoints.patchWebhook.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const endpoint = await changes.patchEndpoint(deps, endpointTarget(request), request.body, by, context)
      return { status: 200, body: presentEndpoint(endpoint) }
    }),
    handler(endpoints.deleteWebhook.call, async (request, context) => {
      await changes.removeEndpoint(deps, endpointTarget(request), actedBy(request.caller, context))
      return { status: 204, body: null }
    }),
    handler(endpoints.rotateWebhookSecret.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const target = endpointTarget(request)
      const rotated = await changes.rotateSecret(deps, target, request.body.overlap_s, by)
      const { webhookId, secret, previousValidUntil } = rotated
      const until = instantText(previousValidUntil)
      return { status: 200, body: { webhook_id: webhookId, secret, previous_valid_until: until } }
    }),
    handler(endpoints.testWebhook.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      return { status: 202, body: { delivery_id: await changes.sendTest(deps, endpointTarget(request), by) } }
    }),
    handler(endpoints.pauseWebhook.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      return {
        status: 200,
        body: presentEndpoint(await changes.pauseEndpoint(deps, endpointTarget(request), by)),
      }
    }),
    handler(endpoints.resumeWebhook.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const endpoint = await changes.resumeEndpoint(deps, endpointTarget(request), request.body.held, by)
      return { status: 200, body: presentEndpoint(endpoint) }
    }),
  ]
}

/** The endpoint that a request names by its id. */
export function endpointTarget(request: {
  caller: Caller
  params: { webhook_id: string }
  query: { environment?: AccountMode | undefined }
}) {
  const { caller, params, query } = request
  return { scopes: idScopes(caller, query.environment), webhookId: params.webhook_id }
}

/** Replay jobs. Source: docs/contract.md, sections 7, 11 and 12. */
export function replayHandlers(deps: CallsContext): CallHandler[] {
  return [
    handler(endpoints.createReplay.call, async (request, context) => {
      const { caller, body } = request
      const by = actedBy(caller, context)
      const job = await startReplay(deps, endpointTarget(request), caller.idempotencyKey, body, by)
      return { status: body.dry_run ? 200 : 202, body: presentReplay(job) }
    }),
    handler(endpoints.listReplays.call, async (request) =>
      answerPage(await listReplays(deps, endpointTarget(request), request.query), presentReplay),
    ),
    handler(endpoints.getReplay.call, async (request) => {
      const job = await findReplay(deps, endpointTarget(request), request.params.replay_id)
      return { status: 200, body: presentReplay(job) }
    }),
    handler(endpoints.cancelReplay.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const job = await cancelReplay(deps, endpointTarget(request), request.params.replay_id, by)
      return { status: 200, body: presentReplay(job) }
    }),
  ]
}
