import { createHash } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { idCharacters } from '@pitboss/contracts/id-characters'
import { placeAfterInterruption, type ScaleMs } from '../rules/retry-schedule.ts'
import { type DeliveryDocument, type DueDelivery, type EventHeader, never } from './collections.ts'

const idTimeCharacters = 10
const idHashCharacters = 16

export type NewDelivery = Scope &
  Pick<DeliveryDocument, '_id' | 'webhookId' | 'eventId' | 'eventType' | 'lane' | 'createdAt'> &
  Partial<Pick<DeliveryDocument, 'replayId' | 'testBody' | 'single' | 'traceparent'>>

/** What the retry schedule goes by. @param random 0 to 1 */
export type ScheduleContext = { readonly random: () => number; readonly scaleMs: ScaleMs }

/** The delivery of an event to an endpoint, as workers know it before it is stored. */
export function newDueOf(webhookId: string, event: EventHeader): DueDelivery {
  const { id: eventId, type: eventType, scope, recordedAt: createdAt, traceparent } = event
  return newDue({
    ...{ _id: deliveryIdOf(eventId, webhookId), ...scope, webhookId, eventId, eventType },
    ...{ lane: 'fresh', createdAt, ...(traceparent === undefined ? {} : { traceparent }) },
  })
}

/** A new delivery as it is stored instead of sent. */
export function asideAs(due: DueDelivery, status: 'CANCELLED' | 'HELD' | 'PENDING'): DeliveryDocument {
  const ended = status === 'PENDING' ? {} : { status, dueAt: never, nextAttemptAt: null }
  return { ...due, ...ended, attempts: [] }
}

/** Creation time and id as one text, which sorts by creation; 15 digits hold every instant. */
export function orderOf(createdAt: Date, id: string): string {
  return `${String(createdAt.getTime()).padStart(15, '0')}/${id}`
}

export function newDocument(delivery: NewDelivery): DeliveryDocument {
  return { ...newDue(delivery), attempts: [] }
}

function newDue(delivery: NewDelivery): DueDelivery {
  const { _id, createdAt } = delivery
  return {
    ...{ status: 'PENDING', order: orderOf(createdAt, _id), dueAt: createdAt, nextAttemptAt: createdAt },
    ...{ attemptCount: 0, firstAttemptAt: null, step: 1, stepDueAt: createdAt, pulledFor: null },
    ...{ scheduleBase: 0, single: false, failedInStreak: null, claimToken: 0, claimedAt: null },
    ...{ deliveredAt: null, replayId: null, previousStatus: null, testBody: null },
    ...delivery,
  }
}

export function claimedOf(due: DueDelivery, token: number, now: Date): DueDelivery {
  return { ...due, claimToken: token, claimedAt: now, dueAt: never, attemptCount: due.attemptCount + 1 }
}

/** Event time and 80 bits of a hash, so that a repeated fan-out finds what it created. Source: ours. */
export function deliveryIdOf(eventId: string, webhookId: string): string {
  const [, eventText = ''] = eventId.split('_')
  const hash = createHash('sha256').update(`${eventId}/${webhookId}/0`).digest()
  return `dlv_${eventText.slice(0, idTimeCharacters)}${idCharacters(hash, idHashCharacters)}`
}

/** After its worker is gone it is due again; the attempt stays on record with an unknown outcome. */
export function afterInterruption(orphan: DueDelivery, now: Date, { random, scaleMs }: ScheduleContext) {
  const { attemptCount, claimedAt, lane, step, stepDueAt } = orphan
  const sentAt = claimedAt ?? now
  const firstAttemptAt = orphan.firstAttemptAt ?? sentAt
  const attempt = {
    ...{ attempt: attemptCount, sentAt, durationMs: null, httpStatus: null },
    error: 'interrupted: the worker went away, the outcome is unknown',
    ...{ responseExcerpt: null, timings: null, hint: null, storedAt: now },
  }
  const interrupted = { place: { step, stepDueAt }, startedAt: sentAt, firstAttemptAt }
  const fields = {
    ...{ claimToken: 0, claimedAt: null, dueAt: now, nextAttemptAt: now },
    ...placeAfterInterruption({ ...interrupted, random: random(), scaleMs }),
    ...{ lane: lane === 'fresh' ? 'retry' : lane, firstAttemptAt, attemptedAt: now },
  } as const
  return { fields, attempt }
}

/** A delivery never stored although its event is recorded: it may have been sent as its first attempt. */
export function newInterrupted(due: DueDelivery, now: Date, schedule: ScheduleContext): DeliveryDocument {
  const orphan = claimedOf(due, 0, due.createdAt)
  const { fields, attempt } = afterInterruption(orphan, now, schedule)
  return { ...orphan, ...fields, attempts: [attempt] }
}
