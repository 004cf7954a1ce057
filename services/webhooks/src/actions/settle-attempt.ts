import { failpoint } from '@pitboss/runtime/failpoint'
import { judgeAttempt, type DeliveryOutcome } from '../rules/delivery-outcome.ts'
import { placeOf } from '../rules/delivery-place.ts'
import { afterAttempt, type EndpointHealth } from '../rules/endpoint-health.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import {
  type DeliveryDocument,
  type DueDelivery,
  type EndpointDocument,
  never,
} from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { AttemptOutcome } from './make-attempt.ts'

export type SettleAttempt = (attempt: {
  delivery: DueDelivery
  outcome: AttemptOutcome
  /** The breaker let it through as its probe. */
  probe: boolean
  /** A success changes nothing about the endpoint but the time of it, which the caller keeps. */
  atEase: boolean
  lastSuccessAt: Date | null
  /** Called when the delivery is being written: what is claimed from now on is claimed by the same write or by a later one. */
  onWriting: () => void
}) => Promise<Settled>

export type Settled = {
  /** The endpoint as its health changed; null when it did not. */
  readonly endpoint: EndpointDocument | null
  readonly status: DeliveryDocument['status']
  /** False when the claim was lost: somebody else settles this delivery. */
  readonly written: boolean
}

/**
 * Writes what an attempt has come to: the endpoint's health in one update, then the delivery in one update fenced by its claim.
 * A death in between repeats the attempt. Tests never touch the health.
 */
export function createSettleAttempt({
  endpoints,
  deliveries,
  scaleMs,
  random,
}: {
  endpoints: EndpointStore
  deliveries: DeliveryStore
  scaleMs: (ms: number) => number
  random: () => number
}): SettleAttempt {
  return async function settleAttempt({ delivery, outcome, probe, atEase, lastSuccessAt, onWriting }) {
    const { at, ok } = outcome
    const isTest = delivery.eventType === 'webhook.test'
    const firstAttemptAt = delivery.firstAttemptAt ?? outcome.record.sentAt
    const judged = judgeAttempt({
      ok,
      at,
      place: placeOf(delivery, scaleMs),
      startedAt: delivery.claimedAt ?? outcome.record.sentAt,
      firstAttemptAt,
      single: delivery.single,
      retryAfterMs: outcome.retryAfterMs,
      random: random(),
      scaleMs,
    })
    let streakNumber: number | null = delivery.failedInStreak
    let pulledFor: Date | null = delivery.pulledFor ?? null
    let endpoint: EndpointDocument | null = null
    if (!isTest && outcome.asked && !(ok && atEase)) {
      endpoint = await endpoints.change(delivery, delivery.webhookId, (current) => {
        const health = afterAttempt(
          withLastSuccess(current.health, lastSuccessAt),
          {
            at,
            ok,
            gone: outcome.gone,
            probe,
            exhausted: judged.kind === 'failed' && judged.scheduleSpent,
            firstAttemptAt,
            failedInStreak: delivery.failedInStreak,
          },
          scaleMs,
        )
        if (!ok) streakNumber = health.streak.number
        if (!ok) pulledFor = health.breaker.closedAt ?? null
        return { $set: { health } }
      })
    }
    await failpoint('webhooks.health-settled')
    const fields = {
      ...settledFields(delivery, judged, at, endpoint),
      firstAttemptAt,
      failedInStreak: streakNumber,
      pulledFor,
    }
    const writing = deliveries.complete(delivery, fields, outcome.record)
    onWriting()
    return { endpoint, status: fields.status, written: await writing }
  }
}

function settledFields(
  { lane }: Pick<DeliveryDocument, 'lane'>,
  judged: DeliveryOutcome,
  at: Date,
  endpoint: EndpointDocument | null,
) {
  const ended = { dueAt: never, nextAttemptAt: null }
  if (judged.kind === 'delivered') return { status: 'DELIVERED', deliveredAt: at, ...ended } as const
  if (judged.kind === 'failed') return { status: 'FAILED', ...ended } as const
  const { place } = judged
  const nextLane = lane === 'replay' ? 'replay' : 'retry'
  if (endpoint !== null && endpoint.deletedAt !== null)
    return { status: 'CANCELLED', lane: nextLane, ...place, ...ended } as const
  if (endpoint?.health.status === 'PAUSED')
    return { status: 'HELD', lane: nextLane, ...place, ...ended } as const
  const { stepDueAt: dueAt } = place
  return { status: 'PENDING', lane: nextLane, ...place, dueAt, nextAttemptAt: dueAt } as const
}

function withLastSuccess(health: EndpointHealth, at: Date | null): EndpointHealth {
  if (at === null || (health.lastSuccessAt !== null && health.lastSuccessAt >= at)) return health
  return { ...health, lastSuccessAt: at }
}
