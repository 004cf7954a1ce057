import { failpoint } from '@pitboss/runtime/failpoint'
import { partition } from '@pitboss/runtime/partition'
import { isShut } from '../rules/endpoint-health.ts'
import { newInterrupted } from '../storage/interrupted-delivery.ts'
import { deliveryIdOf, type NewDelivery } from '../storage/new-delivery.ts'
import type { DeliveryStatus } from '../storage/collections.ts'
import type { EndpointTarget } from '../storage/endpoint-store.ts'
import type { Appended, NewEvent, RecordedEvent } from '../storage/log-append.ts'
import type { UnstoredDeliveries } from './unstored-deliveries.ts'
import { announceDeliveries, type CreateDeliveries } from './create-deliveries.ts'
import type { Deferred } from './deferred-deliveries.ts'
import type { Deps } from './deps.ts'
import type { EventMessage } from './read-event-message.ts'
import { createPlaceAfter, type RecoverOrphans } from './settle-attempt.ts'

/** Whether an endpoint could not be sent a new delivery within a second; null for one that others run. */
export type TakesNone = (webhookId: string, now: Date) => boolean | null

/** What the caller waits for before it acknowledges the events. */
export type Behind = {
  /** Takes the deliveries of endpoints that take none for now, which the caller has to store. */
  defer(deferred: Deferred): void
  /** Takes what settles when the deliveries are stored that may be sent before. */
  wait(stored: Promise<void>): void
}

/** @param behind without it all deliveries are stored when this resolves */
export type RecordEvents = (messages: readonly EventMessage[], behind?: Behind | null) => Promise<Set<string>>

/**
 * Records events and creates their deliveries, as far as they are missing. An event's endpoints are chosen
 * when it is recorded and stored with it, so that a repetition, however late, repairs exactly those. A
 * message with a recorded id but another account, environment or type is left out and logged, and so is one
 * whose fact another event tells. Deliveries that are missing of an event which another call recorded may have
 * been sent by it (see unstored-deliveries.ts).
 * @returns the ids of the events that were incomplete
 */
export function createRecordEvents({
  events,
  endpoints,
  deliveries,
  createDeliveries,
  recoverOrphans,
  unstored,
  takesNone,
  bodies,
  notifyWorkers,
  notes,
  clock,
  logger,
  ...deps
}: Pick<
  Deps,
  | 'events'
  | 'endpoints'
  | 'deliveries'
  | 'bodies'
  | 'notifyWorkers'
  | 'notes'
  | 'clock'
  | 'logger'
  | 'random'
  | 'scaleMs'
> & {
  createDeliveries: CreateDeliveries
  recoverOrphans: RecoverOrphans
  unstored: Pick<UnstoredDeliveries, 'whenStored'>
  takesNone: TakesNone
}): RecordEvents {
  const placeAfter = createPlaceAfter(deps)
  /** The last batch held nothing new: probably a rewind, so the next one's deliveries are read in one query. */
  let repeating = false

  return async function recordEvents(messages, behind = null) {
    if (messages.length === 0) return new Set()
    const [found, targets] = await Promise.all([
      repeating ? deliveries.statusesOfEvents(messages.map(({ envelope }) => envelope.id)) : null,
      endpoints.targets([...new Set(messages.map(({ scope }) => scope.operatorId))]),
    ])
    const now = clock.now()
    const appended = await events.append(messages.map((message) => newEvent(message, targets, now)))
    noteRefused(appended)
    const own = new Map(appended.recorded.map((event) => [event.id, event]))
    const unique = firstOfEach(messages, new Set([...own.keys(), ...appended.known.keys()]))
    const fresh = unique.filter(({ envelope }) => own.has(envelope.id))
    for (const { envelope, scope } of fresh) notes.tell(scope, 'events', () => envelope)
    await failpoint('webhooks.recorded')

    const changed = new Set(own.keys())
    const all = new Map<string, Pick<RecordedEvent, 'targets'>>([...appended.known, ...own])
    const wanted = unique.flatMap((message) => wantedDeliveries(message, all, targets, now))
    const existing = found ?? (await existingOf(wanted.filter(({ eventId }) => !own.has(eventId))))
    repeating = fresh.length === 0
    const missing = wanted.filter(({ _id }) => !existing.has(_id))
    for (const { envelope, body } of fresh) bodies.put(envelope.id, body)
    const texts = new Map(unique.map(({ envelope, body }) => [envelope.id, body]))
    const bodyOf = ({ eventId }: { eventId: string }) => texts.get(eventId) ?? null
    const shut = new Set(
      behind === null
        ? []
        : targets.filter(({ _id, health }) => takesNone(_id, now) ?? isShut(health)).map(({ _id }) => _id),
    )
    const [ownMissing, orphaned] = partition(missing, ({ eventId }) => own.has(eventId))
    const [later, sendable] = partition(ownMissing, ({ webhookId }) => shut.has(webhookId))
    const { untold, stored } = await createDeliveries(sendable, targets, bodyOf, behind !== null)
    if (later.length > 0) behind?.defer({ deliveries: later, bodyOf })
    await deliveries.insertAbsent(orphaned.map((one) => newInterrupted(one, now, placeAfter)))
    for (const { eventId } of missing) changed.add(eventId)
    await failpoint('webhooks.fanned-out')

    const waiting = wanted.filter(({ _id }) => existing.get(_id) === 'PENDING')
    for (const unsettled of [stored, unstored.whenStored(waiting.map(({ _id }) => _id))]) {
      if (behind === null) await unsettled
      else behind.wait(unsettled)
    }
    await tellOf([...untold, ...orphaned], new Set(waiting.map(({ webhookId }) => webhookId)), targets)
    return changed
  }

  /**
   * Tells the workers of new deliveries. One that was there may be from a process that died before it told
   * anybody, or while it had it in flight.
   * @param withOlder endpoints of which deliveries were there
   */
  async function tellOf(
    untold: readonly NewDelivery[],
    withOlder: ReadonlySet<string>,
    targets: readonly EndpointTarget[],
  ): Promise<void> {
    for (const { _id, leaseToken } of targets) {
      if (withOlder.has(_id)) await recoverOrphans(_id, leaseToken)
    }
    await announceDeliveries({ endpoints, notifyWorkers, clock }, untold, [...withOlder])
  }

  function noteRefused({ refused }: Appended): void {
    for (const { event, by } of refused) {
      const { id, scope, type } = event
      if (by.id === id) logger.error({ event_id: id, ...scope, type }, 'event.id-reused')
      else logger.warn({ event_id: id, ...scope, told_by: by.id }, 'event.told-already')
    }
  }

  async function existingOf(old: readonly NewDelivery[]): Promise<Map<string, DeliveryStatus>> {
    if (old.length === 0) return new Map()
    const found = await deliveries.existing(old)
    return new Map([...found].map(([id, { status }]) => [id, status]))
  }
}

/** The first message of each of these events, in the order of the stream. */
function firstOfEach(messages: readonly EventMessage[], ids: ReadonlySet<string>): EventMessage[] {
  const first = new Map(messages.toReversed().map((message) => [message.envelope.id, message]))
  return messages.filter(
    (message) => ids.has(message.envelope.id) && first.get(message.envelope.id) === message,
  )
}

function newEvent(message: EventMessage, targets: readonly EndpointTarget[], now: Date): NewEvent {
  const { envelope, scope } = message
  const matching = targets.filter(
    (target) =>
      target.operatorId === scope.operatorId &&
      target.environment === scope.environment &&
      (target.events.length === 0 || target.events.includes(envelope.type)),
  )
  return {
    ...{ scope, id: envelope.id, fact: message.fact, type: envelope.type, createdAt: message.createdAt },
    ...{ recordedAt: now, body: message.body, roundId: message.roundId },
    targets: matching.map(({ _id }) => _id),
    ...(message.traceparent === undefined ? {} : { traceparent: message.traceparent }),
  }
}

function wantedDeliveries(
  { envelope, scope, traceparent }: EventMessage,
  recorded: ReadonlyMap<string, Pick<RecordedEvent, 'targets'>>,
  targets: readonly EndpointTarget[],
  now: Date,
): NewDelivery[] {
  const present = new Set(targets.map(({ _id }) => _id))
  const webhookIds = recorded.get(envelope.id)?.targets.filter((id) => present.has(id)) ?? []
  return webhookIds.map((webhookId) => ({
    _id: deliveryIdOf(envelope.id, webhookId, 0),
    ...scope,
    webhookId,
    eventId: envelope.id,
    eventType: envelope.type,
    lane: 'fresh',
    createdAt: now,
    ...(traceparent === undefined ? {} : { traceparent }),
  }))
}
