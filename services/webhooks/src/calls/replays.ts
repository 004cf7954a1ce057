import { handler, type CallHandler } from '@pitboss/bus/serve-calls'
import {
  cancelReplay as cancelReplayEndpoint,
  createReplay,
  getReplay,
  listReplays,
} from '@pitboss/contracts/endpoints/webhooks'
import type { CancelReplay } from '../actions/cancel-replay.ts'
import type { ReadReplays } from '../actions/read-replays.ts'
import type { StartReplay } from '../actions/start-replay.ts'
import { presentReplay } from '../records/webhook-records.ts'
import { endpointTarget } from './endpoints.ts'

/** Replay jobs. Source: docs/contract.md, sections 7, 11 and 12. */
export function replayHandlers({
  startReplay,
  cancelReplay,
  readReplays,
}: {
  startReplay: StartReplay
  cancelReplay: CancelReplay
  readReplays: ReadReplays
}): CallHandler[] {
  return [
    handler(createReplay.call, async (request) => {
      const { caller, body } = request
      const job = await startReplay.start(endpointTarget(request), caller.idempotencyKey, body)
      return { status: body.dry_run ? 200 : 202, body: presentReplay(job) }
    }),
    handler(listReplays.call, async (request) => {
      const { items, nextCursor } = await readReplays.list(endpointTarget(request), request.query)
      return { status: 200, body: { data: items.map(presentReplay), next_cursor: nextCursor } }
    }),
    handler(getReplay.call, async (request) => {
      const job = await readReplays.find(endpointTarget(request), request.params.replay_id)
      return { status: 200, body: presentReplay(job) }
    }),
    handler(cancelReplayEndpoint.call, async (request) => {
      const job = await cancelReplay(endpointTarget(request), request.params.replay_id)
      return { status: 200, body: presentReplay(job) }
    }),
  ]
}
