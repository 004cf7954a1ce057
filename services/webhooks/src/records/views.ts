import { toSetup } from '@pitboss/contracts/environments'
import type { Delivery } from '@pitboss/contracts/objects/delivery'
import { type EventEnvelope, eventEnvelopeSchema } from '@pitboss/contracts/objects/event'
import type { WebhookEndpoint } from '@pitboss/contracts/objects/webhook-endpoint'
import type { AttemptRecord, DeliveryDocument, EndpointDocument } from '../storage/documents.ts'

/** Stored documents as the public records of contract sections 7 and 11. */

/** A page of 200 deliveries must fit into one message; the whole excerpt is among the attempts of the one delivery. */
const listExcerptCharacters = 256

export function eventView(body: string): EventEnvelope {
  return eventEnvelopeSchema.parse(JSON.parse(body))
}

/** @param secret only in the answer of a creation */
export function endpointView(endpoint: EndpointDocument, secret?: string): WebhookEndpoint {
  const { health } = endpoint
  return {
    webhook_id: endpoint._id,
    url: endpoint.url,
    description: endpoint.description,
    environment: toSetup(endpoint.environment),
    events: endpoint.events,
    status: health.status,
    pause_reason: health.pauseReason,
    failure_streak: {
      consecutive_failed_attempts: health.streak.attempts,
      consecutive_failed_deliveries: health.streak.deliveries,
      since: instantText(health.streak.since),
    },
    created_at: endpoint.createdAt.toISOString(),
    ...(secret === undefined ? {} : { secret }),
  }
}

/** An attempt that is under way shows once it has ended, so that number, result and next time always fit together. */
export function deliveryView(delivery: DeliveryDocument): Delivery {
  const last = delivery.attempts.at(-1)
  const excerpt = last?.responseExcerpt?.slice(0, listExcerptCharacters) ?? null
  return {
    delivery_id: delivery._id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    status: delivery.status,
    attempt_count: attemptsEnded(delivery),
    next_attempt_at: delivery.status === 'PENDING' ? instantText(delivery.nextAttemptAt) : null,
    last_attempt: last === undefined ? null : attemptView({ ...last, responseExcerpt: excerpt }),
    created_at: delivery.createdAt.toISOString(),
    delivered_at: delivery.status === 'DELIVERED' ? instantText(delivery.deliveredAt) : null,
  }
}

export function attemptView(attempt: AttemptRecord) {
  const { timings } = attempt
  return {
    attempt: attempt.attempt,
    sent_at: attempt.sentAt.toISOString(),
    duration_ms: attempt.durationMs,
    http_status: attempt.httpStatus,
    error: attempt.error,
    response_excerpt: attempt.responseExcerpt,
    timings:
      timings === null
        ? null
        : {
            dns_ms: timings.dnsMs,
            connect_ms: timings.connectMs,
            tls_ms: timings.tlsMs,
            first_byte_ms: timings.firstByteMs,
            total_ms: timings.totalMs,
          },
    hint: attempt.hint,
  }
}

export function attemptsEnded({ attemptCount, claimToken }: DeliveryDocument): number {
  return claimToken > 0 ? attemptCount - 1 : attemptCount
}

export function instantText(at: Date | null): string | null {
  return at === null ? null : at.toISOString()
}
