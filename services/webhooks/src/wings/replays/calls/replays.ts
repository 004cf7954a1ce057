import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as ops from '@pitboss/contracts/calls/webhooks'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { answerPage } from '@pitboss/storage/read-page'
import { findEndpoint } from '../../../actions/read-endpoints.ts'
import * as actions from '../actions/read-replays.ts'
import { startReplay, startReplayAnywhere } from '../actions/start-replay.ts'

/** Replay jobs. Source: docs/contract.md, sections 7, 11 and 12. */
export function replayCalls(c: actions.ReplaysContext): CallHandler[] {
  const { presentReplay } = actions
  const find = async (request: Parameters<typeof findEndpoint>[1], id: string) => {
    const endpoint = await findEndpoint(c, request)
    return findInScopes([endpoint], (scope) => c.replays.find(scope, endpoint._id, id))
  }
  return [
    handler(endpoints.createReplay.call, async (request, call) => {
      const { caller, body } = request
      const [endpoint, by] = [await findEndpoint(c, request), actedBy(caller, call)]
      const job = await startReplay(c, endpoint, caller.idempotencyKey, body, by)
      return answer(presentReplay(job), body.dry_run ? 200 : 202)
    }),
    handler(endpoints.listReplays.call, async (request) => {
      const page = await actions.listReplays(c, await findEndpoint(c, request), request.query)
      return answerPage(page, presentReplay)
    }),
    handler(endpoints.getReplay.call, async (request) => {
      const job = await find(request, request.params.replay_id)
      return answer(presentReplay(await actions.withCounts(c, job)))
    }),
    handler(endpoints.cancelReplay.call, async (request, call) => {
      const job = await find(request, request.params.replay_id)
      return answer(presentReplay(await actions.cancelReplay(c, job, actedBy(request.caller, call))))
    }),
    handler(ops.opsReplayEndpoint, async ({ order, ...request }, { requestId }) =>
      presentReplay(await startReplayAnywhere(c, order, request, requestId)),
    ),
    handler(ops.opsShowReplay, async ({ replayId }) =>
      presentReplay(await actions.findReplayAnywhere(c, replayId)),
    ),
  ]
}
