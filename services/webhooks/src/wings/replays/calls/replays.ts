import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as ops from '@pitboss/contracts/calls/webhooks'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { answerPage } from '@pitboss/storage/read-page'
import { endpointTarget } from '../../../calls/endpoints.ts'
import { cancelReplay, findReplay, findReplayAnywhere, listReplays } from '../actions/read-replays.ts'
import { startReplay, startReplayAnywhere } from '../actions/start-replay.ts'
import type { ReplaysContext } from '../context.ts'
import { presentReplay } from '../records/present-replay.ts'

/** Replay jobs. Source: docs/contract.md, sections 7, 11 and 12. */
export function replayCalls(context: ReplaysContext): CallHandler[] {
  return [
    handler(endpoints.createReplay.call, async (request, call) => {
      const { caller, body } = request
      const by = actedBy(caller, call)
      const job = await startReplay(context, endpointTarget(request), caller.idempotencyKey, body, by)
      return answer(presentReplay(job), body.dry_run ? 200 : 202)
    }),
    handler(endpoints.listReplays.call, async (request) =>
      answerPage(await listReplays(context, endpointTarget(request), request.query), presentReplay),
    ),
    handler(endpoints.getReplay.call, async (request) => {
      const job = await findReplay(context, endpointTarget(request), request.params.replay_id)
      return answer(presentReplay(job))
    }),
    handler(endpoints.cancelReplay.call, async (request, call) => {
      const by = actedBy(request.caller, call)
      const job = await cancelReplay(context, endpointTarget(request), request.params.replay_id, by)
      return answer(presentReplay(job))
    }),
    handler(ops.opsReplayEndpoint, async ({ order, ...request }, { requestId }) =>
      presentReplay(await startReplayAnywhere(context, order, request, requestId)),
    ),
    handler(ops.opsShowReplay, async ({ replayId }) =>
      presentReplay(await findReplayAnywhere(context, replayId)),
    ),
  ]
}
