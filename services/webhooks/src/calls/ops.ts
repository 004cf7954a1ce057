import type { Bus } from '@pitboss/bus/connect-bus'
import { passedSeq } from '@pitboss/bus/passed-seq'
import { handler, type CallHandler } from '@pitboss/bus/serve-calls'
import {
  fanoutRewind,
  opsEventsOfRound,
  opsListDeliveries,
  opsListParked,
  opsReplayEndpoint,
  opsRetryDelivery,
  opsRetryParked,
  opsShowDelivery,
  opsShowParked,
  opsShowReplay,
  opsWebhooksStatus,
} from '@pitboss/contracts/calls/webhooks'
import { operatorHandleOf } from '@pitboss/contracts/operator-handle'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { RewindStore } from '@pitboss/storage/rewind-store'
import type { Logger } from 'pino'
import { fanoutConsumer } from '../consumers/handle-fanout-batch.ts'
import { readEventMessage } from '../rules/read-event-message.ts'
import type { RecordEvents } from '../actions/record-events.ts'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { DeliveryDocument, ParkedDocument } from '../storage/documents.ts'
import type { ParkedStore } from '../storage/parked-store.ts'
import { type DeliveriesDeps, detailView, retry } from './deliveries.ts'
import { beginReplay, type ReplaysDeps, replayView } from './replays.ts'
import { deliveryView, instantText } from '../records/views.ts'

export type OpsDeps = DeliveriesDeps &
  ReplaysDeps & {
    bus: Bus
    parked: ParkedStore
    rewinds: RewindStore
    recordEvents: RecordEvents
    logger: Logger
  }

const deliveriesOfEventMax = 200
const waitingEndpointsMax = 1000
const lookupsAtOnce = 8

/** What operations do here, for every operator. Source: contract section 10. */
export function opsHandlers(deps: OpsDeps): CallHandler[] {
  const { endpoints, deliveries, events, replays, parked, rewinds, bus, clock, logger } = deps

  async function delivery(id: string): Promise<DeliveryDocument> {
    const found = await deliveries.read(id)
    if (found === null) throw new ServiceError('NOT_FOUND', { message: `There is no delivery ${id}.` })
    return found
  }

  async function parkedMessage(id: string): Promise<ParkedDocument> {
    const found = await parked.read(id)
    if (found === null) throw new ServiceError('NOT_FOUND', { message: `There is no parked message ${id}.` })
    return found
  }

  /** The due time of the delivery that has waited longest past it, breakers and busy workers included. */
  async function oldestDueAt(): Promise<Date | null> {
    const waiting = await endpoints.waiting(waitingEndpointsMax)
    const firsts = await mapBounded(waiting, lookupsAtOnce, (id) => deliveries.firstDueAt(id))
    const nowMs = clock.now().getTime()
    const overdueMs = firsts.flatMap((at) => (at !== null && at.getTime() <= nowMs ? [at.getTime()] : []))
    return overdueMs.length === 0 ? null : new Date(Math.min(...overdueMs))
  }

  return [
    handler(opsListDeliveries, async ({ webhookId, status, eventId, limit }) => {
      const filter = {
        ...(webhookId === null ? {} : { webhookId }),
        ...(status === null ? {} : { status }),
        ...(eventId === null ? {} : { eventId }),
      }
      return { data: (await deliveries.listAnywhere(filter, limit)).map(opsDeliveryView) }
    }),

    handler(opsShowDelivery, async ({ deliveryId }) => {
      const found = await delivery(deliveryId)
      return { ...(await detailView(deps, found)), operator_id: operatorHandleOf(found.operatorId) }
    }),

    handler(opsRetryDelivery, async ({ order, deliveryId }) => {
      const found = await delivery(deliveryId)
      if (order.dryRun) return opsDeliveryView(found)
      logger.info({ by: order.by, reason: order.reason, delivery_id: deliveryId }, 'ops.delivery-retried')
      return opsDeliveryView(await retry(deps, found))
    }),

    handler(opsReplayEndpoint, async ({ order, webhookId, from, to, only }) => {
      const endpoint = await endpoints.read(webhookId)
      if (endpoint === null || endpoint.deletedAt !== null) {
        throw new ServiceError('NOT_FOUND', { message: `There is no endpoint ${webhookId}.` })
      }
      const window = { from: instantField('from', from), to: instantField('to', to) }
      const request = { ...window, types: [], only, dryRun: order.dryRun }
      const job = await beginReplay(deps, endpoint, request, null)
      logger.info({ by: order.by, reason: order.reason, replay_id: job.replay_id }, 'ops.replay-started')
      return job
    }),

    handler(opsShowReplay, async ({ replayId }) => {
      const job = await replays.read(replayId)
      if (job === null) throw new ServiceError('NOT_FOUND', { message: `There is no replay ${replayId}.` })
      return replayView(deliveries, job)
    }),

    handler(opsListParked, async ({ limit }) => ({ data: (await parked.list(limit)).map(parkedView) })),

    handler(opsShowParked, async ({ parkedId }) => parkedView(await parkedMessage(parkedId))),

    handler(opsRetryParked, async ({ order, parkedId }) => {
      const message = await parkedMessage(parkedId)
      const data = Buffer.from(message.payload, 'base64')
      try {
        const event = readEventMessage({ subject: message.subject, id: message.messageId, data })
        if (!order.dryRun) {
          await deps.recordEvents([event])
          await parked.remove(parkedId)
          logger.info({ by: order.by, reason: order.reason, parked_id: parkedId }, 'ops.parked-handled')
        }
        return { parked_id: parkedId, handled: !order.dryRun, error: null }
      } catch (cause) {
        const error = cause instanceof Error ? cause.message : String(cause)
        if (!order.dryRun) await parked.setError(parkedId, error)
        return { parked_id: parkedId, handled: false, error }
      }
    }),

    handler(fanoutRewind.start, (request) => rewinds.start(request)),

    handler(fanoutRewind.show, async ({ rewindId }) =>
      rewinds.progress(rewindId, await passedSeq(bus, 'EVENTS', fanoutConsumer)),
    ),

    handler(opsWebhooksStatus, async () => {
      const [counts, oldest, parkedCount, pausedEndpoints] = await Promise.all([
        deliveries.statusCounts(),
        oldestDueAt(),
        parked.count(),
        endpoints.countPaused(),
      ])
      return {
        ...counts,
        oldest_due_at: instantText(oldest),
        parked: parkedCount,
        paused_endpoints: pausedEndpoints,
      }
    }),

    handler(opsEventsOfRound, async ({ roundId }) => {
      const found = await events.ofRound(roundId)
      const data = await Promise.all(
        found.map(async ({ _id, body }) => ({
          event: recordOf(JSON.parse(body)),
          deliveries: (await deliveries.listAnywhere({ eventId: _id }, deliveriesOfEventMax)).map(
            opsDeliveryView,
          ),
        })),
      )
      return { data }
    }),
  ]
}

function opsDeliveryView(delivery: DeliveryDocument) {
  return { ...deliveryView(delivery), operator_id: operatorHandleOf(delivery.operatorId) }
}

function parkedView(message: ParkedDocument) {
  return {
    parked_id: message._id,
    consumer: message.consumer,
    stream_seq: message.streamSeq,
    subject: message.subject,
    parked_at: message.parkedAt.toISOString(),
    deliveries: message.deliveries,
    error: message.error,
    payload: Buffer.from(message.payload, 'base64').toString('utf8'),
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

function instantField(path: string, text: string): string {
  if (Number.isNaN(Date.parse(text))) throw invalidField(path, 'must be an ISO 8601 time')
  return text
}
