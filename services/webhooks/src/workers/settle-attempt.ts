import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import { judgeAttempt, type DeliveryOutcome } from '../domain/delivery-outcome.ts'
import { afterAttempt, type EndpointHealth } from '../domain/endpoint-health.ts'
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
  clock,
  scaleMs,
  random,
}: {
  endpoints: EndpointStore
  deliveries: DeliveryStore
  clock: Clock
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
      attempt: delivery.attemptCount,
      scheduleBase: delivery.scheduleBase,
      single: delivery.single,
      retryAfterMs: outcome.retryAfterMs,
      random: random(),
      scaleMs,
    })
    let backlogDue = false
    let streakNumber: number | null = delivery.failedInStreak
    let endpoint: EndpointDocument | null = null
    if (!isTest && !(ok && atEase)) {
      endpoint = await endpoints.change(delivery, delivery.webhookId, (current) => {
        const change = afterAttempt(
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
        backlogDue = change.backlogDue
        if (!ok) streakNumber = change.health.streak.number
        return { $set: { health: change.health } }
      })
    }
    await failpoint('webhooks.health-settled')
    const fields = {
      ...settledFields(delivery, judged, at, endpoint),
      firstAttemptAt,
      failedInStreak: streakNumber,
    }
    const writing = deliveries.complete(delivery, fields, outcome.record)
    onWriting()
    const written = await writing
    if (backlogDue) await deliveries.backlogDue(delivery.webhookId, clock.now())
    return { endpoint, status: fields.status, written }
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
  const nextLane = lane === 'replay' ? 'replay' : 'retry'
  if (endpoint !== null && endpoint.deletedAt !== null)
    return { status: 'CANCELLED', lane: nextLane, ...ended } as const
  if (endpoint?.health.status === 'PAUSED') return { status: 'HELD', lane: nextLane, ...ended } as const
  return { status: 'PENDING', lane: nextLane, dueAt: judged.dueAt, nextAttemptAt: judged.dueAt } as const
}

function withLastSuccess(health: EndpointHealth, at: Date | null): EndpointHealth {
  if (at === null || (health.lastSuccessAt !== null && health.lastSuccessAt >= at)) return health
  return { ...health, lastSuccessAt: at }
}
