import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as ops from '@pitboss/contracts/calls/webhooks'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { createCap } from '@pitboss/runtime/cap'
import type { Poll } from '@pitboss/runtime/poll'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { answerPage } from '@pitboss/storage/read-page'
import { startLeasedPoll } from '@pitboss/storage/start-leased-poll'
import { findEndpoint } from '../../actions/read-endpoints.ts'
import type { Wing } from '../../context.ts'
import { advanceReplays } from './actions/advance-replays.ts'
import * as actions from './actions/order-replays.ts'
import { createReplayStore, replayIndexes } from './storage/replay-store.ts'

/** How long a dead replica keeps the others from the jobs. */
const leaseTtlMs = 5000
/** While a job runs, and while none does: who orders one wakes the worker of his process. */
const [everyMs, idleMs] = [500, 5000]

/** Replays of recorded events to an endpoint. Source: docs/contract.md, sections 7, 11 and 12. */
export const replays: Wing = {
  indexes: { replays: replayIndexes },
  audited: ['replays'],
  open(core, { clockAheadMs, replaysMax }) {
    const { db, clock, logger } = core
    let worker: Poll | null = null
    const store = createReplayStore(db)
    const cap = createCap({
      count: (account) => store.countRunning(account, replaysMax),
      max: replaysMax,
      message: `An account has at most ${replaysMax} running replays; cancel one, or wait for its end.`,
    })
    const context = { ...core, cap, replays: store, wake: () => worker?.wake() }
    const turn = { advancedTo: '' }
    return {
      calls: replayCalls(context),
      start() {
        worker = startLeasedPoll({
          ...{ event: 'replay.interrupted', level: 'warn', everyMs, logger },
          lease: { db, name: 'replays', ttlMs: leaseTtlMs, clock, clockAheadMs },
          idle: { isIdle: async () => !(await store.areLeft()), everyMs: idleMs },
          work: (stopping) => advanceReplays(context, turn, stopping),
        })
        return worker
      },
    }
  },
}

function replayCalls(c: actions.ReplaysContext): CallHandler[] {
  const { presentReplay } = actions
  const find = async (request: Parameters<typeof findEndpoint>[1], id: string) => {
    const endpoint = await findEndpoint(c, request)
    return findInScopes([endpoint], (scope) => c.replays.find(scope, endpoint._id, id))
  }
  return [
    handler(endpoints.createReplay.call, async (request, call) => {
      const { caller, body } = request
      const [endpoint, by] = [await findEndpoint(c, request), actedBy(caller, call)]
      const job = await actions.startReplay(c, endpoint, caller.idempotencyKey, body, by)
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
      presentReplay(await actions.startReplayAnywhere(c, order, request, requestId)),
    ),
    handler(ops.opsShowReplay, async ({ replayId }) =>
      presentReplay(await actions.findReplayAnywhere(c, replayId)),
    ),
  ]
}
