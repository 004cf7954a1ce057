import { isTracing, openSpan, type OpenSpan } from '@pitboss/tracing/spans'
import type { EventMessage } from './read-event-message.ts'

type Received = {
  readonly message: { readonly seq: number; readonly traceparent: string | null }
  readonly event: EventMessage
}

/**
 * Records a batch of events, each with a span of its own in the trace of what it tells; its deliveries go on
 * from that. What the batch writes is shown once, below the first of them, to which the others are linked.
 */
export async function traceBatch<Result>(
  batch: readonly Received[],
  record: (events: readonly EventMessage[]) => Promise<Result>,
): Promise<Result> {
  const events = batch.map(({ event }) => event)
  if (!isTracing() || batch.every(({ message }) => message.traceparent === null)) return record(events)
  const spans: OpenSpan[] = []
  const traced = batch.map(({ message, event }) => {
    if (message.traceparent === null) return event
    const [first] = spans
    const { envelope } = event
    const span = openSpan(`record ${envelope.type}`, {
      kind: 'consumer',
      parent: message.traceparent,
      links: first?.traceparent === undefined ? [] : [first.traceparent],
      attributes: {
        'messaging.system': 'nats',
        'messaging.message.id': envelope.id,
        'messaging.batch.message_count': batch.length,
        'pitboss.stream_seq': message.seq,
      },
    })
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
