import { eventSubject } from '@pitboss/bus/topology'
import type { Scope } from '@pitboss/contracts/caller'
import { type EventEnvelope, eventEnvelopeSchema } from '@pitboss/contracts/objects/event'
import { idTimeMs } from '@pitboss/runtime/new-id'
import { eventIdOf } from '@pitboss/storage/event-id'
import { z } from 'zod'

export type EventMessage = {
  readonly scope: Scope
  readonly envelope: EventEnvelope
  readonly body: string
  readonly createdAt: Date
  readonly roundId: string | null
  /** When its round or session was opened, if its own id follows from that; else null. */
  readonly openedAtMs: number | null
  /** Of the recorded span that records it. */
  readonly traceparent?: string
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Subject, message id and envelope must agree. @throws Error, which reading it again gives, too */
export function readEventMessage(message: {
  subject: string
  id: string | null
  data: Uint8Array
}): EventMessage {
  const body = decodeBody(message.data)
  const parsed = eventEnvelopeSchema.safeParse(parseJson(body))
  if (!parsed.success) throw new Error(`not an event: ${z.prettifyError(parsed.error)}`)
  const envelope = parsed.data
  const scope = { operatorId: envelope.operator_id, environment: envelope.environment }
  if (eventSubject(scope, envelope.type) !== message.subject) {
    throw new Error('the envelope names another operator, environment or type than its subject')
  }
  if (message.id !== null && message.id !== envelope.id) throw new Error('the message id is not the event id')
  const createdAt = new Date(envelope.created_at)
  if (Number.isNaN(createdAt.getTime())) throw new Error('created_at is not a time')
  const { round_id: roundId } = envelope.data
  const expectedId = expectedEventId(scope, envelope.type, envelope.data)
  return {
    ...{ scope, envelope, body, createdAt, roundId: typeof roundId === 'string' ? roundId : null },
    openedAtMs: expectedId === envelope.id ? idTimeMs(envelope.id) : null,
  }
}

/** The id that an event has by its fact, from its envelope. Null when the data does not name the fact. */
function expectedEventId(scope: Scope, type: string, data: Readonly<Record<string, unknown>>): string | null {
  const of = data[type.startsWith('game.session.') ? 'session_id' : 'round_id']
  const about = type.startsWith('transaction.') ? data.transaction_id : of
  return typeof about === 'string' && typeof of === 'string' ? eventIdOf(scope, { type, about, of }) : null
}

function decodeBody(data: Uint8Array): string {
  try {
    return decoder.decode(data)
  } catch {
    throw new Error('not UTF-8')
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new Error('not JSON')
  }
}
