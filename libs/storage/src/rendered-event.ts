import type { Scope } from '@pitboss/contracts/caller'
import { recordedTraceparent } from '@pitboss/tracing/spans'

/** An event as it is delivered: part of the entry of its change until webhooks has recorded it. */
export type RenderedEvent = {
  /** Event id; the stream's message id. */
  readonly id: string
  readonly subject: string
  /** The envelope as it will be delivered, byte for byte. */
  readonly body: string
  /** Sent once more, past the stream's memory of ids, which outlives an event that was lost. */
  readonly again?: true
  /** Of the recorded span that made the event, so that its delivery is in the same trace. */
  readonly traceparent?: string
}

/** Renders an event's envelope once, in the write that caused it. Source: docs/contract.md, section 7. */
export function renderEvent({
  id,
  type,
  createdAt,
  scope,
  data,
}: {
  id: string
  type: string
  createdAt: Date
  scope: Scope
  data: object
}): RenderedEvent {
  const body = JSON.stringify({
    id,
    type,
    created_at: createdAt.toISOString(),
    environment: scope.environment,
    operator_id: scope.operatorId,
    data,
  })
  const subject = `events.v1.${scope.environment.toLowerCase()}.${scope.operatorId}.${type}`
  const traceparent = recordedTraceparent()
  return { id, subject, body, ...(traceparent === undefined ? {} : { traceparent }) }
}
