import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/webhooks'
import { eventDataSchemas } from '@pitboss/contracts/objects/event'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import { parseJsonObject } from '@pitboss/contracts/json'
import type { CallsContext } from '../context.ts'
import { findParked, retryParked } from '../actions/record-batch.ts'
import { explainWait, findDeliveryAnywhere, orderRetry } from '../actions/read-deliveries.ts'
import { eventsOfRoundAnywhere, listStarted, missingEvents, readLoggedStake } from '../actions/read-events.ts'
import { readStatus, showRewind, startRewind } from '../actions/read-status.ts'
import * as records from '../records/webhook-records.ts'
import { z } from 'zod'

const startedEvent = z.object({ data: eventDataSchemas['round.started'] })

/** Calls of operations, about every operator's data. Source: docs/contract.md, section 10. */
export function opsHandlers(deps: CallsContext): CallHandler[] {
  return [
    handler(calls.opsListDeliveries, async ({ limit, ...filter }) => {
      const found = await deps.history.list(null, filter, limit)
      return { data: found.map(records.presentDeliveryWithOperator) }
    }),
    handler(calls.opsShowDelivery, async ({ deliveryId }) => {
      const delivery = await findDeliveryAnywhere(deps, deliveryId)
      return {
        ...records.presentDeliveryDetail(delivery, await explainWait(deps, delivery), deps.scaleMs),
        operator_id: operatorHandleOf(delivery.operatorId),
      }
    }),
    handler(calls.opsRetryDelivery, async ({ order, deliveryId }, { requestId }) =>
      records.presentDeliveryWithOperator(await orderRetry(deps, order, deliveryId, requestId)),
    ),
    handler(calls.opsListParked, async ({ limit }) => ({
      data: (await deps.parked.list(limit)).map(records.presentParked),
    })),
    handler(calls.opsShowParked, async ({ parkedId }) =>
      records.presentParked(await findParked(deps, parkedId)),
    ),
    handler(calls.opsRetryParked, async ({ order, parkedId }, { requestId }) => {
      const error = await retryParked(deps, order, parkedId, requestId)
      return { parked_id: parkedId, handled: error === null && !order.dryRun, error }
    }),
    handler(calls.fanoutRewind.start, (request, { requestId }) => startRewind(deps, request, requestId)),
    handler(calls.fanoutRewind.show, ({ rewindId }) => showRewind(deps, rewindId)),
    handler(calls.opsWebhooksStatus, async () => {
      const { oldestDueAt, pausedEndpoints, ...counts } = await readStatus(deps)
      return { ...counts, oldest_due_at: records.instantText(oldestDueAt), paused_endpoints: pausedEndpoints }
    }),
    handler(calls.opsMissingEvents, async ({ events }) => ({
      data: await missingEvents(
        deps,
        events.map(({ event_id }) => event_id),
      ),
    })),
    handler(calls.opsRoundsStarted, async ({ scope, from, to, after }) => {
      const window = { from: new Date(from), to: new Date(to) }
      const { bodies, next } = await listStarted(deps, scope, window, after)
      const data = bodies.map((body) => {
        const { round_id, player_id, game, currency, fairness } = startedEvent.parse(JSON.parse(body)).data
        return { round_id, player_id, game, currency, nonce: fairness.nonce }
      })
      return { data, next }
    }),
    handler(calls.showLoggedStake, async ({ scope, since, ...stake }) => ({
      standing: await readLoggedStake(deps, scope, { ...stake, since: new Date(since) }),
    })),
    handler(calls.opsEventsOfRound, async ({ roundId }) => {
      const found = await eventsOfRoundAnywhere(deps, roundId)
      return {
        data: found.map(({ body, deliveries }) => ({
          event: parseJsonObject(Buffer.from(body)) ?? {},
          deliveries: deliveries.map(records.presentDeliveryWithOperator),
        })),
      }
    }),
  ]
}
