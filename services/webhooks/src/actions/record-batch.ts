import { isTracing, openSpan, type OpenSpan } from '@pitboss/tracing/spans'
import { type EventMessage, readEventMessage, type RecordEvents } from './record-events.ts'
import { createExtraLateness } from '../rules/lateness.ts'
import type { DurableMessage } from '@pitboss/bus/consume-durable'
import { orderedBy } from '@pitboss/contracts/audit'
import { ServiceError } from '@pitboss/errors/service-error'
import type { ParkedDocument } from '../storage/collections.ts'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import type { CallsContext } from '../context.ts'

type Received = { readonly message: DurableMessage; readonly event: EventMessage }

/** Records events, each in a span. The writes show below the first, to which the others are linked. */
export async function recordTraced(batch: readonly Received[], record: RecordEvents) {
  const events = batch.map(({ event }) => event)
  if (!isTracing() || batch.every(({ message }) => message.traceparent === null)) return record(events)
  const spans: OpenSpan[] = []
  const traced = batch.map(({ message: { seq, traceparent: parent }, event }) => {
    if (parent === null) return event
    const [first] = spans
    const attributes = {
      'messaging.system': 'nats',
      'messaging.message.id': event.id,
      'messaging.batch.message_count': batch.length,
      'pitboss.stream_seq': seq,
    }
    const links = first?.traceparent === undefined ? [] : [first.traceparent]
    const span = openSpan(`record ${event.type}`, { kind: 'consumer', parent, links, attributes })
    spans.push(span)
    const { traceparent } = span
    return traceparent?.endsWith('-01') === true ? { ...event, traceparent } : event
  })
  const work = () => record(traced)
  try {
    return await (spans[0]?.run(work) ?? work())
  } catch (error) {
    for (const span of spans) span.fail('not recorded')
    throw error
  } finally {
    for (const span of spans) span.end()
  }
}

export type FanoutLateness = ReturnType<typeof createFanoutLateness>

/** Follows the fan-out. What was there before this process, and what a rewind brings, does not count. */
export function createFanoutLateness() {
  const extra = createExtraLateness()
  /** When the event in the middle of the newest batch was made, as long as it or more is to be recorded. */
  let at: Date | null = null
  const caughtUp = (): void => {
    at = null
    extra.of(0)
  }
  return {
    /** @param createdAt of each event in the stream's order; some may be old ones that were sent again */
    began(createdAt: readonly Date[]): void {
      at = createdAt[createdAt.length >> 1] ?? at
    },
    /** @param more whether the stream had more for the consumer when it gave the last one */
    ended(more: boolean): void {
      if (!more) caughtUp()
    },
    /** The consumer is another process's: a batch that failed here is recorded there. */
    left: caughtUp,
    forgive: extra.forgive,
    lateMs: (now: Date): number => extra.of(at === null ? 0 : Math.max(0, now.getTime() - at.getTime())),
  }
}

/** @throws ServiceError NOT_FOUND */
export async function findParked({ parked }: CallsContext, id: string): Promise<ParkedDocument> {
  const found = await parked.read(id)
  if (found === null) throw new ServiceError('NOT_FOUND', { message: `There is no parked message ${id}.` })
  return found
}

/** Stores what cannot be read, until operations have it tried again. Parking it again refreshes the error. */
export async function parkMessage(c: CallsContext, consumer: string, message: DurableMessage, error: string) {
  const { seq: streamSeq, subject, id: messageId, data, deliveryCount: deliveries } = message
  const received = { consumer, streamSeq, subject, messageId, payload: Buffer.from(data).toString('base64') }
  await c.parked.park({ ...received, error, deliveries, parkedAt: c.clock.now() })
  c.logger.error({ stream_seq: streamSeq, subject, error }, 'message.parked')
}

/** Handles the message again. @returns its error; null for none @throws ServiceError NOT_FOUND */
export async function retryParked(c: CallsContext, order: OpsOrder, id: string, requestId: string) {
  const { parked, recordEvents, audit, logger } = c
  const message = await findParked(c, id)
  const entry = (after: { error: string } | null) =>
    audit.entry(orderedBy(order, null, requestId), {
      ...{ act: 'parked.retry', object: { type: 'parked', id }, after },
      before: { subject: message.subject, error: message.error },
    })
  const data = Buffer.from(message.payload, 'base64')
  try {
    const event = readEventMessage({ subject: message.subject, id: message.messageId, data })
    if (!order.dryRun) {
      await recordEvents([event])
      await parked.remove(id, entry(null))
      logger.info({ by: order.by, reason: order.reason, parked_id: id }, 'ops.parked-handled')
    }
    return null
  } catch (cause) {
    const error = cause instanceof Error ? cause.message : String(cause)
    if (!order.dryRun) await parked.setError(id, error, entry({ error }))
    return error
  }
}
