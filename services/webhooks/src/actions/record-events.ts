import { failpoint } from '@pitboss/runtime/failpoint'
import type { EndpointDocument } from '../storage/collections.ts'
import type { EndpointsRead } from '../storage/endpoint-store.ts'
import type { Appended, NewEvent, TargetsOf } from '../storage/log-append.ts'
import type { WebhooksContext } from '../context.ts'
import type { EventMessage } from './read-event-message.ts'

/** Records a batch of events. @returns the ids of those that were not recorded before */
export type RecordEvents = (messages: readonly EventMessage[]) => Promise<ReadonlySet<string>>

/** What a batch has brought: recorded now, recorded before, and the endpoints as they were read before. */
export type Recorded = Pick<Appended, 'recorded' | 'known'> & { readonly read: readonly EndpointsRead[] }

/**
 * Records events with the endpoints to which they go, none twice. A message with a recorded id but another
 * account, environment or type is left out and logged. Nothing else is to be done for a recorded event: the
 * workers of its endpoints pass the log.
 * @param onRecorded also takes what was recorded before: its recorder may have notified nobody
 * @returns the ids of those that were not recorded before
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
      .map((message) => newEvent(message, now))
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
  const envelopes = new Map(messages.toReversed().map(({ envelope }) => [envelope.id, envelope]))
  for (const { id, scope } of appended.recorded) notes.tell(scope, 'events', () => envelopes.get(id))
  return new Set(appended.recorded.map(({ id }) => id))
}

function newEvent(message: EventMessage, now: Date): NewEvent {
  const { envelope, scope } = message
  return {
    ...{ scope, id: envelope.id, openedAtMs: message.openedAtMs, type: envelope.type },
    ...{ createdAt: message.createdAt, recordedAt: now, body: message.body, roundId: message.roundId },
    ...(message.traceparent === undefined ? {} : { traceparent: message.traceparent }),
  }
}

function targetsAmong(endpoints: readonly EndpointDocument[]): TargetsOf {
  return ({ scope, type }) =>
    endpoints
      .filter(
        ({ operatorId, environment, events }) =>
          operatorId === scope.operatorId &&
          environment === scope.environment &&
          (events.length === 0 || events.includes(type)),
      )
      .map(({ _id }) => _id)
}
