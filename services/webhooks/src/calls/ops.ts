import { rewindCalls } from '@pitboss/bus/rewind-calls'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { webhooksFanout } from '@pitboss/bus/topology'
import * as calls from '@pitboss/contracts/calls/webhooks'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import { parseJsonObject } from '@pitboss/contracts/json'
import type { CallsContext } from '../context.ts'
import { findParked, retryParked } from '../actions/record-batch.ts'
import { explainWait, findDeliveryAnywhere, orderRetry } from '../actions/read-deliveries.ts'
import { eventsOfRoundAnywhere, listStarted, readLoggedStake } from '../actions/read-events.ts'
import { readStatus } from '../actions/read-status.ts'
import * as records from '../records/webhook-records.ts'

/** Calls of operations, about every operator's data. Source: docs/contract.md, section 10. */
export function opsHandlers(c: CallsContext): CallHandler[] {
  return [
    handler(calls.opsListDeliveries, async ({ limit, ...filter }) => {
      const found = await c.history.list(null, filter, limit)
      return { data: found.map(records.presentDeliveryWithOperator) }
    }),
    handler(calls.opsShowDelivery, async ({ deliveryId }) => {
      const delivery = await findDeliveryAnywhere(c, deliveryId)
      const detail = records.presentDeliveryDetail(delivery, await explainWait(c, delivery), c.scaleMs)
      return { ...detail, operator_id: operatorHandleOf(delivery.operatorId) }
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
    handler(calls.opsWebhooksStatus, () => readStatus(c)),
    handler(calls.opsMissingEvents, async ({ events }) => {
      const ids = events.map(({ event_id }) => event_id)
      const recorded = new Set((await c.events.headersOf(ids)).map(({ id }) => id))
      return { data: ids.filter((id) => !recorded.has(id)) }
    }),
    handler(calls.opsRoundsStarted, (asked) => listStarted(c, asked)),
    handler(calls.showLoggedStake, async (stake) => ({ standing: await readLoggedStake(c, stake) })),
    handler(calls.opsEventsOfRound, async ({ roundId }) => ({
      data: (await eventsOfRoundAnywhere(c, roundId)).map(({ body, deliveries }) => ({
        event: parseJsonObject(Buffer.from(body)) ?? {},
        deliveries: deliveries.map(records.presentDeliveryWithOperator),
      })),
    })),
  ]
}
