import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import {
  fanoutRewind,
  opsEventsOfRound,
  opsListDeliveries,
  opsListParked,
  opsMissingEvents,
  opsReplayEndpoint,
  opsRetryDelivery,
  opsRetryParked,
  opsRoundsStarted,
  opsShowDelivery,
  opsShowParked,
  opsShowReplay,
  opsWebhooksStatus,
  showLoggedStake,
} from '@pitboss/contracts/calls/webhooks'
import { eventDataSchemas } from '@pitboss/contracts/objects/event'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import { parseJsonObject } from '@pitboss/contracts/json'
import type { CallsContext } from '../context.ts'
import { createParkedMessages } from '../actions/parked-messages.ts'
import { createReadDeliveries } from '../actions/read-deliveries.ts'
import { createReadEvents } from '../actions/read-events.ts'
import { createReadLoggedStake } from '../actions/read-logged-stake.ts'
import { createReadReplays } from '../actions/read-replays.ts'
import { createReadStatus, createRewindFanout } from '../actions/read-status.ts'
import { createRetryDelivery } from '../actions/retry-delivery.ts'
import { startReplayAnywhere } from '../actions/start-replay.ts'
import {
  instantText,
  presentDeliveryDetail,
  presentDeliveryWithOperator,
  presentParked,
  presentReplay,
} from '../records/webhook-records.ts'
import { z } from 'zod'

const startedEvent = z.object({ data: eventDataSchemas['round.started'] })

/** Calls of operations, about every operator's data. Source: docs/contract.md, section 10. */
export function opsHandlers(deps: CallsContext): CallHandler[] {
  const readDeliveries = createReadDeliveries(deps)
  const retryDelivery = createRetryDelivery(deps)
  const readReplays = createReadReplays(deps)
  const parkedMessages = createParkedMessages(deps)
  const rewindFanout = createRewindFanout(deps)
  const readStatus = createReadStatus(deps)
  const readEvents = createReadEvents(deps)
  const readLoggedStake = createReadLoggedStake(deps)
  return [
    handler(opsListDeliveries, async ({ limit, ...filter }) => {
      const found = await readDeliveries.listAnywhere(filter, limit)
      return { data: found.map(presentDeliveryWithOperator) }
    }),
    handler(opsShowDelivery, async ({ deliveryId }) => {
      const { delivery, waitingFor } = await readDeliveries.showAnywhere(deliveryId)
      return {
        ...presentDeliveryDetail(delivery, waitingFor, deps.scaleMs),
        operator_id: operatorHandleOf(delivery.operatorId),
      }
    }),
    handler(opsRetryDelivery, async ({ order, deliveryId }, { requestId }) =>
      presentDeliveryWithOperator(await retryDelivery.retryAnywhere(order, deliveryId, requestId)),
    ),
    handler(opsReplayEndpoint, async ({ order, ...request }, { requestId }) =>
      presentReplay(await startReplayAnywhere(deps, order, request, requestId)),
    ),
    handler(opsShowReplay, async ({ replayId }) => presentReplay(await readReplays.findAnywhere(replayId))),
    handler(opsListParked, async ({ limit }) => ({
      data: (await parkedMessages.list(limit)).map(presentParked),
    })),
    handler(opsShowParked, async ({ parkedId }) => presentParked(await parkedMessages.find(parkedId))),
    handler(opsRetryParked, async ({ order, parkedId }, { requestId }) => {
      const error = await parkedMessages.retry(order, parkedId, requestId)
      return { parked_id: parkedId, handled: error === null && !order.dryRun, error }
    }),
    handler(fanoutRewind.start, (request, { requestId }) => rewindFanout.start(request, requestId)),
    handler(fanoutRewind.show, ({ rewindId }) => rewindFanout.show(rewindId)),
    handler(opsWebhooksStatus, async () => {
      const { oldestDueAt, pausedEndpoints, ...counts } = await readStatus()
      return { ...counts, oldest_due_at: instantText(oldestDueAt), paused_endpoints: pausedEndpoints }
    }),
    handler(opsMissingEvents, async ({ events }) => ({
      data: await readEvents.missing(
        events.map(({ event_id, round_id }) => ({ id: event_id, roundId: round_id })),
      ),
    })),
    handler(opsRoundsStarted, async ({ scope, from, to, after }) => {
      const window = { from: new Date(from), to: new Date(to) }
      const { bodies, next } = await readEvents.started(scope, window, after)
      const data = bodies.map((body) => {
        const { round_id, player_id, game, currency, fairness } = startedEvent.parse(JSON.parse(body)).data
        return { round_id, player_id, game, currency, nonce: fairness.nonce }
      })
      return { data, next }
    }),
    handler(showLoggedStake, async ({ scope, since, ...stake }) => ({
      standing: await readLoggedStake(scope, { ...stake, since: new Date(since) }),
    })),
    handler(opsEventsOfRound, async ({ roundId }) => {
      const found = await readEvents.ofRound(roundId)
      return {
        data: found.map(({ body, deliveries }) => ({
          event: parseJsonObject(Buffer.from(body)) ?? {},
          deliveries: deliveries.map(presentDeliveryWithOperator),
        })),
      }
    }),
  ]
}
