import { failpoint } from '@pitboss/runtime/failpoint'
import { wants } from '../rules/subscription.ts'
import type { EndpointDocument } from '../storage/collections.ts'
import { isSameScope } from '../storage/log-keys.ts'
import type { EndpointsRead } from '../storage/endpoint-store.ts'
import type { Appended, NewEvent, TargetsOf } from '../storage/log-append.ts'
import type { WebhooksContext } from '../context.ts'
import type { DurableMessage } from '@pitboss/bus/consume-durable'
import { eventSubject } from '@pitboss/bus/topology'
import type { Scope } from '@pitboss/contracts/caller'
import { type EventEnvelope, eventEnvelopeSchema } from '@pitboss/contracts/objects/event'
import { idTimeMs } from '@pitboss/runtime/new-id'
import { eventIdOf } from '@pitboss/storage/event-id'
import { z } from 'zod'

export type EventMessage = Omit<NewEvent, 'recordedAt'> & { readonly envelope: EventEnvelope }

/** Records a batch of events. @returns the ids of those that were not recorded before */
export type RecordEvents = (messages: readonly EventMessage[]) => Promise<ReadonlySet<string>>

/** What a batch has brought: recorded now, recorded before, and the endpoints as they were read before. */
export type Recorded = Pick<Appended, 'recorded' | 'known'> & { readonly read: readonly EndpointsRead[] }

/**
 * Records events with the endpoints to which they go, none twice; the workers of these pass the log. One with
 * a recorded id but another account, environment or type is left out and logged.
 * @param onRecorded also takes what was recorded before: its recorder may have notified nobody
 */
export async function recordEvents(
  c: Pick<WebhooksContext, 'events' | 'endpoints' | 'notes' | 'clock' | 'logger'>,
  messages: readonly EventMessage[],
  onRecorded: (recorded: Recorded) => void,
): Promise<ReadonlySet<string>> {
  const { events, endpoints, notes, clock, logger } = c
  if (messages.length === 0) return new Set()
  const operators = [...new Set(messages.map(({ scope }) => scope.operatorId))]
  let read: readonly EndpointsRead[] = []
  const now = clock.now()
  const appended = await events.append(
    // Two services send a round's events, each when it has answered: together they are in order of time.
    messages
      .map(({ envelope: _, ...event }): NewEvent => ({ ...event, recordedAt: now }))
      .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()),
    async () => {
      read = await endpoints.targets(operators)
      return targetsAmong(read.flatMap((one) => one.endpoints))
    },
  )
  for (const { id, scope, type } of appended.refused)
    logger.error({ event_id: id, ...scope, type }, 'event.id-reused')
  await failpoint('webhooks.recorded')
  onRecorded({ ...appended, read })
  const envelopes = new Map(messages.toReversed().map(({ id, envelope }) => [id, envelope]))
  for (const { id, scope } of appended.recorded) notes.tell(scope, 'events', () => envelopes.get(id))
  return new Set(appended.recorded.map(({ id }) => id))
}

function targetsAmong(endpoints: readonly EndpointDocument[]): TargetsOf {
  return ({ scope, type }) =>
    endpoints.flatMap((one) => (isSameScope(one, scope) && wants(one, type) ? [one._id] : []))
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Subject, message id and envelope must agree. @throws Error, which reading it again gives, too */
export function readEventMessage(message: Pick<DurableMessage, 'subject' | 'id' | 'data'>): EventMessage {
  const body = readOr('not UTF-8', () => decoder.decode(message.data))
  const parsed = eventEnvelopeSchema.safeParse(readOr('not JSON', (): unknown => JSON.parse(body)))
  if (!parsed.success) throw new Error(`not an event: ${z.prettifyError(parsed.error)}`)
  const envelope = parsed.data
  const { id, type } = envelope
  const scope = { operatorId: envelope.operator_id, environment: envelope.environment }
  if (eventSubject(scope, type) !== message.subject)
    throw new Error('the envelope names another operator, environment or type than its subject')
  if (message.id !== null && message.id !== id) throw new Error('the message id is not the event id')
  const createdAt = new Date(envelope.created_at)
  if (Number.isNaN(createdAt.getTime())) throw new Error('created_at is not a time')
  const { round_id: roundId } = envelope.data
  const openedAtMs = expectedEventId(scope, type, envelope.data) === id ? idTimeMs(id) : null
  const ofRound = typeof roundId === 'string' ? roundId : null
  return { id, type, scope, envelope, body, createdAt, roundId: ofRound, openedAtMs }
}

/** The id that an event has by its fact, from its envelope. Null when the data does not name the fact. */
function expectedEventId(scope: Scope, type: string, data: Readonly<Record<string, unknown>>): string | null {
  const of = data[type.startsWith('game.session.') ? 'session_id' : 'round_id']
  const about = type.startsWith('transaction.') ? data.transaction_id : of
  return typeof about === 'string' && typeof of === 'string' ? eventIdOf(scope, { type, about, of }) : null
}

function readOr<Value>(otherwise: string, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    throw new Error(otherwise, { cause })
  }
}
