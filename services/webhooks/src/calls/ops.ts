import { rewindCalls } from '@pitboss/bus/rewind-calls'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { webhooksFanout } from '@pitboss/bus/topology'
import * as calls from '@pitboss/contracts/calls/webhooks'
import { eventDataSchemas } from '@pitboss/contracts/objects/event'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import { parseJsonObject } from '@pitboss/contracts/json'
import type { CallsContext } from '../context.ts'
import { findParked, retryParked } from '../actions/record-batch.ts'
import { explainWait, findDeliveryAnywhere, orderRetry } from '../actions/read-deliveries.ts'
import { eventsOfRoundAnywhere, listStarted, readLoggedStake } from '../actions/read-events.ts'
import { readStatus } from '../actions/read-status.ts'
import * as records from '../records/webhook-records.ts'
import { z } from 'zod'

const startedEvent = z.object({ data: eventDataSchemas['round.started'] })

/** Calls of operations, about every operator's data. Source: docs/contract.md, section 10. */
export function opsHandlers(c: CallsContext): CallHandler[] {
  return [
    handler(calls.opsListDeliveries, async ({ limit, ...filter }) => {
      const found = await c.history.list(null, filter, limit)
      return { data: found.map(records.presentDeliveryWithOperator) }
    }),
    handler(calls.opsShowDelivery, async ({ deliveryId }) => {
      const delivery = await findDeliveryAnywhere(c, deliveryId)
      return {
        ...records.presentDeliveryDetail(delivery, await explainWait(c, delivery), c.scaleMs),
        operator_id: operatorHandleOf(delivery.operatorId),
      }
    }),
    handler(calls.opsRetryDelivery, async ({ order, deliveryId }, { requestId }) =>
      records.presentDeliveryWithOperator(await orderRetry(c, order, deliveryId, requestId)),
    ),
    handler(calls.opsListParked, async ({ limit }) => ({
      data: (await c.parked.list(limit)).map(records.presentParked),
    })),
    handler(calls.opsShowParked, async ({ parkedId }) =>
      records.presentParked(await findParked(c, parkedId)),
    ),
    handler(calls.opsRetryParked, async ({ order, parkedId }, { requestId }) => {
      const error = await retryParked(c, order, parkedId, requestId)
      return { parked_id: parkedId, handled: error === null && !order.dryRun, error }
    }),
    ...rewindCalls(calls.fanoutRewind, webhooksFanout, c),
    handler(calls.opsWebhooksStatus, async () => {
      const { oldestDueAt, pausedEndpoints, ...counts } = await readStatus(c)
      return { ...counts, oldest_due_at: records.instantText(oldestDueAt), paused_endpoints: pausedEndpoints }
    }),
    handler(calls.opsMissingEvents, async ({ events }) => {
      const ids = events.map(({ event_id }) => event_id)
      const recorded = new Set((await c.events.headersOf(ids)).map(({ id }) => id))
      return { data: ids.filter((id) => !recorded.has(id)) }
    }),
    handler(calls.opsRoundsStarted, async ({ scope, from, to, after }) => {
      const window = { from: new Date(from), to: new Date(to) }
      const { bodies, next } = await listStarted(c, scope, window, after)
      const data = bodies.map((body) => {
        const { round_id, player_id, game, currency, fairness } = startedEvent.parse(JSON.parse(body)).data
        return { round_id, player_id, game, currency, nonce: fairness.nonce }
      })
      return { data, next }
    }),
    handler(calls.showLoggedStake, async ({ scope, since, ...stake }) => ({
      standing: await readLoggedStake(c, scope, { ...stake, since: new Date(since) }),
    })),
    handler(calls.opsEventsOfRound, async ({ roundId }) => {
      const data = (await eventsOfRoundAnywhere(c, roundId)).map(({ body, deliveries }) => ({
        event: parseJsonObject(Buffer.from(body)) ?? {},
        deliveries: deliveries.map(records.presentDeliveryWithOperator),
      }))
      return { data }
    }),
  ]
}
