import { operatorHandleOf, toAccountMode } from '@pitboss/contracts/primitives'
import type { Delivery, WebhookEndpoint } from '@pitboss/contracts/objects/webhook'
import { eventEnvelopeSchema } from '@pitboss/contracts/objects/event'
import type { DeliveryFacts } from '@pitboss/contracts/objects/dossier'
import { attemptsEnded, type Wait } from '../rules/choose-due.ts'
import { inFlightMaxOf } from '../rules/endpoint-health.ts'
import { ladderAhead, type ScaleMs } from '../rules/retry-schedule.ts'
import type * as documents from '../storage/collections.ts'

/* Stored documents as public records. Source: docs/contract.md, sections 7, 10 and 11. */

/** A page of 200 deliveries must fit into one message; a single delivery has the whole excerpt. */
const listExcerptCharacters = 256
/** Attempts of a delivery in a dossier. */
const factsAttemptsMax = 20

/** @throws ZodError for a text that is not an event envelope; the log holds none. */
export const presentEvent = (body: string) => eventEnvelopeSchema.parse(JSON.parse(body))

/** @param secret only in the answer of a creation */
export function presentEndpoint(endpoint: documents.EndpointDocument, secret?: string): WebhookEndpoint {
  const { _id: webhook_id, url, description } = endpoint
  const { status, pauseReason, streak } = endpoint.health
  return {
    ...{ webhook_id, url, description, environment: toAccountMode(endpoint.environment) },
    ...{ events: [...endpoint.events], status, pause_reason: pauseReason },
    failure_streak: {
      consecutive_failed_attempts: streak.attempts,
      consecutive_failed_deliveries: streak.deliveries,
      since: instantText(streak.since),
    },
    max_in_flight: inFlightMaxOf(endpoint),
    created_at: endpoint.createdAt.toISOString(),
    ...(secret === undefined ? {} : { secret }),
  }
}

/** Leaves out an attempt that is under way, so that number, result and next time always fit together. */
export function presentDelivery(delivery: documents.DeliveryDocument): Delivery {
  const { _id: delivery_id, webhookId, eventId, eventType, status } = delivery
  const last = delivery.attempts.at(-1)
  const excerpt = last?.responseExcerpt?.slice(0, listExcerptCharacters) ?? null
  return {
    ...{ delivery_id, webhook_id: webhookId, event_id: eventId, event_type: eventType, status },
    attempt_count: attemptsEnded(delivery),
    next_attempt_at: status === 'PENDING' ? instantText(delivery.nextAttemptAt) : null,
    last_attempt: last === undefined ? null : presentAttempt({ ...last, responseExcerpt: excerpt }),
    created_at: delivery.createdAt.toISOString(),
    delivered_at: status === 'DELIVERED' ? instantText(delivery.deliveredAt) : null,
  }
}

/** A delivery, its attempts and the steps ahead: none while one is under way. `wait`: why it is not sent. */
export function presentDeliveryDetail(
  delivery: documents.DeliveryDocument,
  wait: Wait | null,
  scaleMs: ScaleMs,
) {
  const ahead = delivery.status === 'PENDING' && !delivery.single && delivery.claimToken === 0
  const rungs = ahead ? ladderAhead(delivery, delivery.firstAttemptAt, scaleMs) : []
  return {
    ...presentDelivery(delivery),
    attempts: delivery.attempts.map(presentAttempt),
    waiting_for: wait?.words ?? null,
    ladder: rungs.map(({ step, from, to }) => ({ step, from: from.toISOString(), to: to.toISOString() })),
  }
}

export function presentDeliveryFacts(delivery: documents.DeliveryDocument, wait: Wait | null): DeliveryFacts {
  return {
    ...presentDelivery(delivery),
    attempts: delivery.attempts.slice(-factsAttemptsMax).map(presentResult),
    wait: wait === null ? null : { words: wait.words, at: instantText(wait.at) },
  }
}

export function presentDeliveryWithOperator(delivery: documents.DeliveryDocument) {
  return { ...presentDelivery(delivery), operator_id: operatorHandleOf(delivery.operatorId) }
}

export function presentParked(message: documents.ParkedDocument) {
  const { _id: parked_id, consumer, streamSeq: stream_seq, subject, deliveries, error } = message
  return {
    ...{ parked_id, consumer, stream_seq, subject, parked_at: message.parkedAt.toISOString() },
    ...{ deliveries, error, payload: Buffer.from(message.payload, 'base64').toString('utf8') },
  }
}

function presentResult({ attempt, sentAt, durationMs, httpStatus, error }: documents.AttemptRecord) {
  const sent_at = sentAt.toISOString()
  return { attempt, sent_at, duration_ms: durationMs, http_status: httpStatus, error }
}

function presentAttempt(record: documents.AttemptRecord) {
  const { responseExcerpt: response_excerpt, timings, hint, url = null, location = null } = record
  const phases = timings && {
    dns_ms: timings.dnsMs,
    connect_ms: timings.connectMs,
    tls_ms: timings.tlsMs,
    first_byte_ms: timings.firstByteMs,
    total_ms: timings.totalMs,
  }
  return { ...presentResult(record), response_excerpt, timings: phases, hint, url, location }
}

export const instantText = (at: Date | null) => (at === null ? null : at.toISOString())
