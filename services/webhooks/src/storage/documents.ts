import type { EventType } from '@pitboss/contracts/objects/event'
import type { HappeningEnvironment } from '@pitboss/contracts/primitives'
import type { Lane } from '../rules/claim-plan.ts'
import type { EndpointHealth } from '../rules/endpoint-health.ts'
import type { StoredSecret } from '../rules/signing-secrets.ts'

/**
 * What this service keeps. Instants are dates; `never` stands for "not by the clock" where an index needs a
 * date.
 */

export const never = new Date('9999-12-31T00:00:00.000Z')

type Tenant = { operatorId: string; environment: HappeningEnvironment }

export type EventDocument = Tenant & {
  /** The event id. */
  _id: string
  /** Recording order, 1, 2, 3 … without gaps per operator and environment. */
  seq: number
  type: EventType
  createdAt: Date
  /**
   * The latest `createdAt` up to here: rises with `seq`, so that a window's first event is found by an index.
   */
  createdHighAt: Date
  recordedAt: Date
  /** The envelope byte for byte as it was published. */
  body: string
  roundId: string | null
  /** Endpoints that the event was for when it was recorded. */
  targets: string[]
}

export type EndpointDocument = Tenant & {
  _id: string
  version: number
  url: string
  description: string | null
  events: EventType[]
  secrets: StoredSecret[]
  health: EndpointHealth
  /** What becomes of the deliveries that were held before the last resume. */
  heldRule: { action: 'deliver' | 'skip'; at: Date } | null
  /** The closing of the breaker for which the backlog was last pulled forward. Earlier releases kept none. */
  pulledFor?: Date
  createdAt: Date
  deletedAt: Date | null
  /**
   * When a worker must look at it next; lowered by whoever makes work, raised only by the worker that holds
   * it.
   */
  dueAt: Date
  /** Counts the lowerings of `dueAt`: a worker that raises it must have seen them all. */
  wakes: number
  leaseOwner: string | null
  /** Rises with each taking of the lease; what is claimed bears it. */
  leaseToken: number
}

export type AttemptTimings = {
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
  firstByteMs: number | null
  totalMs: number
}

export type AttemptRecord = {
  attempt: number
  sentAt: Date
  durationMs: number | null
  httpStatus: number | null
  error: string | null
  responseExcerpt: string | null
  timings: AttemptTimings | null
  hint: string | null
}

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED' | 'HELD' | 'CANCELLED'

export type DeliveryDocument = Tenant & {
  _id: string
  webhookId: string
  eventId: string
  eventType: EventType | 'webhook.test'
  status: DeliveryStatus
  lane: Lane
  /** Creation time and id as one text: the order of lists and of "oldest". */
  order: string
  createdAt: Date
  /** When a worker may claim it; `never` while it is claimed or not pending. */
  dueAt: Date
  /** When its next attempt is due, for people; null when none is. */
  nextAttemptAt: Date | null
  /** Attempts begun, stored before each POST. */
  attemptCount: number
  attempts: AttemptRecord[]
  firstAttemptAt: Date | null
  /** Where it stands on its schedule (see `Place`). Earlier releases kept neither. */
  step?: number
  stepDueAt?: Date
  /**
   * The closing of the breaker for which it was last pulled forward, or after which it last failed: it is
   * pulled for later ones alone.
   */
  pulledFor?: Date | null
  /** Attempts begun before the present run of the schedule: for earlier releases, and for what they left. */
  scheduleBase: number
  /** One attempt and no schedule: a test, or a manual retry of an ended delivery. */
  single: boolean
  failedInStreak: number | null
  /** Lease token of the worker that has it in flight, else 0. */
  claimToken: number
  claimedAt: Date | null
  /** Also while a replay job sends it again, for when that is cancelled. */
  deliveredAt: Date | null
  replayId: string | null
  /** What it was before a replay job or a person asked for it again. */
  previousStatus: DeliveryStatus | null
  /** Body of a `webhook.test`; every other body is the event's. */
  testBody: string | null
}

/** A delivery as the workers have it: all but the record of its attempts. */
export type DueDelivery = Omit<DeliveryDocument, 'attempts'>

export type ReplayDocument = Tenant & {
  _id: string
  webhookId: string
  status: 'RUNNING' | 'DONE' | 'CANCELLED'
  from: Date
  to: Date
  types: EventType[]
  only: 'failed' | 'missing' | 'all'
  matched: number
  created: number
  delivered: number
  failed: number
  /** Of a cancelled job: whether what was in flight has ended and is counted. Earlier releases kept none. */
  counted?: boolean
  /** Recording order up to which events have been looked at. */
  doneSeq: number
  /** The end of the log when the job was made: what comes later is delivered anyway. */
  endSeq: number
  selected: boolean
  createdAt: Date
  finishedAt: Date | null
}

export type ParkedDocument = {
  _id: string
  consumer: string
  streamSeq: number
  subject: string
  messageId: string | null
  /** Base64 of the bytes as they came; the stream bounds a message to 512 KiB. */
  payload: string
  error: string
  deliveries: number
  parkedAt: Date
}

export type WorkerDocument = { _id: string; aliveUntil: Date }
