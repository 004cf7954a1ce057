import { actedBy } from '@pitboss/contracts/audit'
import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { answerPage } from '@pitboss/storage/read-page'
import * as changes from '../actions/change-endpoint.ts'
import { createEndpoint } from '../actions/create-endpoint.ts'
import type { CallsContext } from '../context.ts'
import { findEndpoint, listEndpoints, readAttemptSeries } from '../actions/read-endpoints.ts'
import { instantText, presentEndpoint } from '../records/webhook-records.ts'

/** Webhook endpoints. Source: docs/contract.md, sections 7 and 11. */
export function endpointHandlers(c: CallsContext): CallHandler[] {
  return [
    handler(endpoints.createWebhook.call, async (request, call) => {
      const { endpoint, secret } = await createEndpoint(c, request, call)
      return answer(presentEndpoint(endpoint, secret), 201)
    }),
    handler(endpoints.listWebhooks.call, async ({ caller, query }) => {
      const page = await listEndpoints(c, caller.scope, query)
      return answerPage(page, (endpoint) => presentEndpoint(endpoint))
    }),
    handler(endpoints.getWebhook.call, async (request) => {
      const endpoint = await findEndpoint(c, request)
      const held = await c.deliveries.countHeld(endpoint._id, countedMax)
      return answer({ ...presentEndpoint(endpoint), held })
    }),
    handler(endpoints.getWebhookSeries.call, async (request) =>
      answer(await readAttemptSeries(c, await findEndpoint(c, request), request.query)),
    ),
    handler(endpoints.patchWebhook.call, async (request, call) => {
      const found = await findEndpoint(c, request)
      return answer(presentEndpoint(await changes.patchEndpoint(c, found, request, call)))
    }),
    handler(endpoints.deleteWebhook.call, async (request, call) => {
      await changes.removeEndpoint(c, await findEndpoint(c, request), actedBy(request.caller, call))
      return answer(null, 204)
    }),
    handler(endpoints.rotateWebhookSecret.call, async (request, call) => {
      const [found, by] = [await findEndpoint(c, request), actedBy(request.caller, call)]
      const { secret, previousValidUntil } = await changes.rotateSecret(c, found, request.body.overlap_s, by)
      const until = instantText(previousValidUntil)
      return answer({ webhook_id: found._id, secret, previous_valid_until: until })
    }),
    handler(endpoints.testWebhook.call, async (request, call) => {
      const [found, by] = [await findEndpoint(c, request), actedBy(request.caller, call)]
      return answer({ delivery_id: await changes.sendTest(c, found, by) }, 202)
    }),
    handler(endpoints.pauseWebhook.call, async (request, call) => {
      const [found, by] = [await findEndpoint(c, request), actedBy(request.caller, call)]
      return answer(presentEndpoint(await changes.pauseEndpoint(c, found, by)))
    }),
    handler(endpoints.resumeWebhook.call, async (request, call) => {
      const [found, by] = [await findEndpoint(c, request), actedBy(request.caller, call)]
      return answer(presentEndpoint(await changes.resumeEndpoint(c, found, request.body.held, by)))
    }),
  ]
}
