import type { CallContext } from '@pitboss/contracts/call'
import { inSpan, isTracing } from '@pitboss/tracing/spans'
import { headers, type MsgHdrs } from 'nats'
import { isOutcomeUnknown } from './call-failure.ts'
import { callHeaders, childTraceparent } from './wire.ts'

/** Makes a call below a span of its own, which says when nobody knows whether the callee did something. */
export async function traceCall<Reply>(
  subject: string,
  context: CallContext | undefined,
  ask: (traceparent: string) => Promise<Reply>,
): Promise<Reply> {
  if (!isTracing()) return ask(childTraceparent(context?.traceparent))
  const attributes = { 'rpc.system.name': 'nats', 'rpc.method': subject }
  const options = { kind: 'client', orParent: context?.traceparent, attributes } as const
  return inSpan(`call ${subject}`, options, async (span) => {
    try {
      return await ask(span.traceparent ?? childTraceparent(context?.traceparent))
    } catch (error) {
      if (isOutcomeUnknown(error)) span.unknown()
      throw error
    }
  })
}

/** Publishes an event below a span, with the `traceparent` of what made it; without one, no headers. */
export async function tracePublish<Ack>(
  event: { id: string | null; subject: string; traceparent: string | undefined },
  publish: (head: MsgHdrs | null) => Promise<Ack>,
): Promise<Ack> {
  const { id, subject, traceparent } = event
  if (traceparent === undefined) return publish(null)
  if (!isTracing()) return publish(headersWith(traceparent))
  const attributes = {
    'messaging.system': 'nats',
    'messaging.destination.name': subject,
    ...(id === null ? {} : { 'messaging.message.id': id }),
  }
  return inSpan(
    `publish ${eventTypeOf(subject)}`,
    { kind: 'producer', parent: traceparent, attributes },
    (span) => publish(headersWith(span.traceparent ?? traceparent)),
  )
}

/** Headers with a `traceparent`. */
export function headersWith(traceparent: string): MsgHdrs {
  const head = headers()
  head.set(callHeaders.traceparent, traceparent)
  return head
}

/** The type that an event's subject ends with: `events.v1.<environment>.<operator>.<type>`. */
function eventTypeOf(subject: string): string {
  return subject.split('.').slice(4).join('.')
}
