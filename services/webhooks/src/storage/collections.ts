import type { WithAudit } from '@pitboss/storage/audit-outbox'
import type { InstanceDocument } from '@pitboss/storage/journal/instances'
import type { Scope } from '@pitboss/contracts/caller'
import type { EventType } from '@pitboss/contracts/objects/event'
import type { CountedAttempt } from '../rules/attempt-figures.ts'
import type { Waiting } from '../rules/choose-due.ts'
import type { Place } from '../rules/retry-schedule.ts'
import type { Subscription } from '../rules/subscription.ts'
import type { DeliveredType, EndpointHealth } from '../rules/endpoint-health.ts'
import type { StoredSecret } from '../rules/signing-secrets.ts'
import type { Binary, Db } from 'mongodb'

/** Stands for "not by the clock" where an index needs a date. */
export const never = new Date('9999-12-31T00:00:00.000Z')

/** A recorded event without its body. */
export type EventHeader = {
  readonly id: string
  readonly scope: Scope
  /** Recording order: 1, 2, 3 … without gaps per account and environment. */
  readonly seq: number
  readonly type: EventType
  readonly createdAt: Date
  readonly recordedAt: Date
  readonly roundId: string | null
  /** The endpoints for which it was recorded. */
  readonly targets: readonly string[]
  /** Of the recorded span that recorded it. */
  readonly traceparent?: string
}

/** @param body the envelope byte for byte as it was published */
export type LoggedEvent = EventHeader & { readonly body: string }

/** An event of the log: written once, never changed. Short names, for there are very many. */
export type LogDocument = {
  /** A `logKey`: 1, 2, 3 … without gaps per account and environment. */
  readonly _id: string
  /** The event id. */
  readonly e: string
  readonly t: EventType
  /** `t` once more, where it is a rare type: the index of those holds no others. */
  readonly x?: EventType
  /** When it was created. */
  readonly c: Date
  /** The latest `c` so far: it rises with the number, so that a time is found by bisection. */
  readonly h: Date
  /** When it was recorded. */
  readonly ra: Date
  /** `roundId` and `traceparent`. */
  readonly r?: string
  readonly tp?: string
  readonly targets: readonly string[]
  /** The body, packed. */
  readonly b: Binary
}

/** An event as builds before the log wrote it: the oldest part of the log. */
export type EventDocument = Scope &
  Omit<LoggedEvent, 'id' | 'scope' | 'traceparent'> & {
    /** The event id. */
    readonly _id: string
    /** The latest `createdAt` so far. It rises with `seq`, so that an index finds a window's first event. */
    readonly createdHighAt: Date
  }

export type EndpointDocument = Scope &
  WithAudit &
  Subscription & {
    _id: string
    version: number
    url: string
    description: string | null
    /** Attempts in flight at most. Earlier releases stored none, for eight. */
    maxInFlight?: number
    secrets: StoredSecret[]
    health: EndpointHealth
    /** What was decided about held deliveries at the last resume. */
    heldRule: { action: 'deliver' | 'skip'; at: Date } | null
    /** The closing of the breaker whose backlog was last pulled forward. Earlier releases stored none. */
    pulledFor?: Date
    createdAt: Date
    deletedAt: Date | null
    /** The end of the event log when it was created. Earlier releases stored none. */
    beginsAfter?: number
    /** New events have waited for a second: lists read them from the log. */
    isLate?: boolean
    /** Deleted, and its worker has yet to pass what was recorded before. */
    closing?: boolean
    /** The work count: it rises with each piece of work that its worker does not make itself. */
    wakes: number
    /** The instance that passes the log for it; null after a clean end. */
    leaseOwner: string | null
    /** Rises with each taking of the lease; claims bear it. */
    leaseToken: number
    /** So many events after its last range may be sent. Earlier releases stored none. */
    leaseAhead?: number
  }

export const timingNames = ['dnsMs', 'connectMs', 'tlsMs', 'firstByteMs', 'totalMs'] as const
export type AttemptTimings = Readonly<
  Record<(typeof timingNames)[number], number | null> & { totalMs: number }
>

export type AttemptRecord = CountedAttempt & {
  error: string | null
  responseExcerpt: string | null
  timings: AttemptTimings | null
  hint: string | null
  /** Where it went, and where a redirect pointed; absent in records of earlier releases. */
  url?: string
  location?: string
  /** When its write was made up: figures count it in that minute. Earlier releases stored none. */
  storedAt?: Date
}

/** A delivery that was accepted at once. Times are milliseconds after the range's `lo`. */
export type RangeItem = {
  /** The event's number, counted from the range's first one. */
  readonly n: number
  /** The event's id and type. */
  readonly e: string
  readonly t: EventType
  /** When the delivery was made, and when its only attempt was sent. */
  readonly c: number
  readonly s: number
  /** Duration of the attempt and its HTTP status. */
  readonly d: number
  readonly h: number
  /** Excerpt of the answer; absent for none. */
  readonly x?: string
  /** Timings in the order of `timingNames`. */
  readonly g: readonly (number | null)[] | null
  /** Where it went, unless to the range's `url`. */
  readonly u?: string
}

/** Events that an endpoint's worker has passed, written once; only one worker gets the next `_id`. */
export type RangeDocument = Scope & {
  /** `<webhook id>/<number of its first event, 12 digits>`. */
  readonly _id: string
  readonly webhookId: string
  /** The number of its last event. */
  readonly to: number
  /** This very write. */
  readonly w: string
  /** When the write was made up: figures count its attempts in that minute. */
  readonly at: Date
  /** When the first and the last of its items' deliveries were made; absent without items. */
  readonly lo?: Date
  readonly hi?: Date
  readonly url?: string
  /** Rare types among its items: the index of those holds no other ranges. */
  readonly x?: readonly EventType[]
  readonly d?: readonly RangeItem[]
}

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED' | 'HELD' | 'CANCELLED'

export type DeliveryDocument = Scope &
  WithAudit &
  Waiting &
  Place & {
    _id: string
    webhookId: string
    eventId: string
    eventType: DeliveredType
    status: DeliveryStatus
    /** Creation time and id as one text: the order of lists and of "oldest". */
    order: string
    createdAt: Date
    attempts: AttemptRecord[]
    /** `storedAt` of the latest attempt. Earlier releases stored none. */
    attemptedAt?: Date
    firstAttemptAt: Date | null
    /** The breaker's closing of its last pull or failure; only later closings pull it. */
    pulledFor: Date | null
    /** Attempts begun before the present run of the schedule. */
    scheduleBase: number
    /** One attempt and no schedule: a test, or a manual retry of an ended delivery. */
    single: boolean
    failedInStreak: number | null
    /** Stays while a replay job sends it again, in case the job is cancelled. */
    deliveredAt: Date | null
    replayId: string | null
    /** Its status before a replay job or a person asked for it again. */
    previousStatus: DeliveryStatus | null
    /** Body of a `webhook.test`; every other body is the event's. */
    testBody: string | null
    /** Of the recorded span that made it: its attempts go on with that trace. Most have none. */
    traceparent?: string
  }

/** A delivery for workers, without the records of its attempts. */
export type DueDelivery = Omit<DeliveryDocument, 'attempts'>

export type ParkedDocument = WithAudit & {
  _id: string
  consumer: string
  streamSeq: number
  subject: string
  messageId: string | null
  /** Base64 of the received bytes; the stream bounds a message to 512 KiB. */
  payload: string
  error: string
  deliveries: number
  parkedAt: Date
}

export type Collections = ReturnType<typeof collectionsOf>

export function collectionsOf(db: Db) {
  return {
    log: db.collection<LogDocument>('log'),
    events: db.collection<EventDocument>('events'),
    endpoints: db.collection<EndpointDocument>('endpoints'),
    deliveries: db.collection<DeliveryDocument>('deliveries'),
    parked: db.collection<ParkedDocument>('parked'),
    ranges: db.collection<RangeDocument>('ranges'),
    instances: db.collection<InstanceDocument>('instances'),
  }
}

/** The address of a delivery. The endpoint is the shard key. */
export function keyOf({ _id, webhookId }: Pick<DeliveryDocument, '_id' | 'webhookId'>) {
  return { _id, webhookId }
}
