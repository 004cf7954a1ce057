import { setTimeout as delay } from 'node:timers/promises'
import { failpoint } from '@pitboss/runtime/failpoint'
import { type DeliveryOutcome, judgeAttempt, placeAfterInterruption } from '../rules/delivery-outcome.ts'
import { presentDelivery } from '../records/webhook-records.ts'
import { placeOf } from '../rules/retry-schedule.ts'
import { afterAttempt, type EndpointHealth, inFlightMaxOf } from '../rules/endpoint-health.ts'
import { isUnsubscribed } from '../rules/subscription.ts'
import {
  type AttemptRecord,
  type DeliveryDocument,
  type DueDelivery,
  type EndpointDocument,
  never,
} from '../storage/collections.ts'
import type { PlaceAfter } from '../storage/interrupted-delivery.ts'
import { createChangeHealth } from './change-health.ts'
import type { EndpointView } from './endpoint-view.ts'
import type { AttemptOutcome } from './make-attempt.ts'
import type { Deps } from './deps.ts'

const triesMax = 6
const retryFirstMs = 200

type Attempt = {
  readonly delivery: DueDelivery
  readonly outcome: AttemptOutcome
  /** The breaker let it through as its probe. */
  readonly probe: boolean
  readonly view: Pick<EndpointView, 'endpoint' | 'isFullyHealthy' | 'changed'>
  /** Writes the outcome under the claim. False when the claim was lost. */
  readonly complete: (
    claimed: DueDelivery,
    fields: Partial<DeliveryDocument>,
    attempt: AttemptRecord,
  ) => Promise<boolean>
  /** The last success at the endpoint that is known and not yet written. */
  readonly lastSuccessAt: () => Date | null
  /** Called when the delivery is being written: later claims are in the same write or in a later one. */
  readonly onWriting: () => void
}

export type SettleAttempt = (attempt: Attempt) => Promise<Settled>

type Settled = {
  readonly status: DeliveryDocument['status']
  /** False when the claim was lost: another worker settles this delivery. */
  readonly written: boolean
  /** The delivery as it waits again, or is held; null when it has ended. */
  readonly again: DueDelivery | null
}

/**
 * Writes the result of an attempt: the endpoint's health in one update, then the delivery in one update
 * fenced by its claim. A crash in between repeats the attempt. Tests never touch the health.
 */
export function createSettleAttempt({
  endpoints,
  notes,
  clock,
  scaleMs,
  random,
  logger,
}: Pick<Deps, 'endpoints' | 'notes' | 'clock' | 'scaleMs' | 'random' | 'logger'>): SettleAttempt {
  const changeHealth = createChangeHealth({ endpoints })

  /** The receiver has been asked. It must not be asked again because the database is away for a moment. */
  return async function settleAttempt(attempt) {
    for (let tried = 1; ; tried++) {
      try {
        return await write(attempt)
      } catch (err) {
        if (tried >= triesMax) throw err
        const { _id, webhookId } = attempt.delivery
        logger.warn({ err, webhook_id: webhookId, delivery_id: _id }, 'delivery.not-settled')
        await delay(retryFirstMs * 2 ** (tried - 1))
      }
    }
  }

  async function write({ delivery, outcome, probe, view, ...attempt }: Attempt): Promise<Settled> {
    const lastSuccessAt = attempt.lastSuccessAt()
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
    // A success at a fully healthy endpoint changes its time alone, which is written later, with others.
    if (!isTest && outcome.asked && !(ok && view.isFullyHealthy())) {
      const changed = await changeHealth(view.endpoint(), (current) =>
        afterAttempt(
          withLastSuccess(current.health, lastSuccessAt),
          {
            ...{ at, ok, probe, firstAttemptAt },
            gone: outcome.gone,
            eventType: delivery.eventType,
            exhausted: judged.kind === 'failed' && judged.scheduleSpent,
            failedInStreak: delivery.failedInStreak,
          },
          scaleMs,
          inFlightMaxOf(current),
        ),
      )
      if (changed !== null && !ok) {
        streakNumber = changed.health.streak.number
        pulledFor = changed.health.breaker.closedAt ?? null
      }
      endpoint = changed?.endpoint ?? null
      if (endpoint !== null) view.changed(endpoint)
    }
    await failpoint('webhooks.health-settled')
    const storedAt = clock.now()
    const fields = {
      attemptedAt: storedAt,
      ...settledFields(delivery, judged, endedAt(outcome), endpoint),
      firstAttemptAt,
      failedInStreak: streakNumber,
      pulledFor,
    }
    const writing = attempt.complete(delivery, fields, { ...outcome.record, storedAt })
    attempt.onWriting()
    const written = await writing
    const settled = { ...delivery, ...fields, claimToken: 0, claimedAt: null }
    if (written) {
      const ended = { ...settled, attempts: [outcome.record] }
      notes.tell(delivery, 'deliveries', () => presentDelivery(ended))
    }
    const isOver = settled.status !== 'PENDING' && settled.status !== 'HELD'
    return { status: fields.status, written, again: isOver ? null : settled }
  }
}

function settledFields(
  { lane, ...delivery }: Pick<DeliveryDocument, 'lane' | 'eventType' | 'replayId'>,
  judged: DeliveryOutcome,
  at: Date,
  endpoint: EndpointDocument | null,
) {
  const ended = { dueAt: never, nextAttemptAt: null }
  if (judged.kind === 'delivered') return { status: 'DELIVERED', deliveredAt: at, ...ended } as const
  if (judged.kind === 'failed') return { status: 'FAILED', ...ended } as const
  const { place } = judged
  const nextLane = lane === 'replay' ? 'replay' : 'retry'
  const isUnwanted =
    endpoint !== null &&
    (endpoint.deletedAt !== null || isUnsubscribed(endpoint, { ...delivery, lane: nextLane }))
  if (isUnwanted) return { status: 'CANCELLED', lane: nextLane, ...place, ...ended } as const
  if (endpoint?.health.status === 'PAUSED')
    return { status: 'HELD', lane: nextLane, ...place, ...ended } as const
  const { stepDueAt: dueAt } = place
  return { status: 'PENDING', lane: nextLane, ...place, dueAt, nextAttemptAt: dueAt } as const
}

/** When an attempt ended, as its record says. */
function endedAt({ at, record: { sentAt, durationMs } }: AttemptOutcome): Date {
  return durationMs === null ? at : new Date(sentAt.getTime() + durationMs)
}

function withLastSuccess(health: EndpointHealth, at: Date | null): EndpointHealth {
  if (at === null || (health.lastSuccessAt !== null && health.lastSuccessAt >= at)) return health
  return { ...health, lastSuccessAt: at }
}

/**
 * Makes the deliveries due that dead workers left in flight for the endpoint whose lease has this token.
 * @returns how many these were
 */
export type RecoverOrphans = (webhookId: string, token: number) => Promise<number>

export function createRecoverOrphans({
  deliveries,
  clock,
  scaleMs,
  random,
}: Pick<Deps, 'deliveries' | 'clock' | 'scaleMs' | 'random'>): RecoverOrphans {
  const placeAfter = createPlaceAfter({ scaleMs, random })
  return (webhookId, token) => deliveries.recoverOrphans(webhookId, token, clock.now(), placeAfter)
}

/** The place on its schedule of a delivery whose attempt has an unknown outcome. */
export function createPlaceAfter({ scaleMs, random }: Pick<Deps, 'scaleMs' | 'random'>): PlaceAfter {
  return (orphan, sentAt) =>
    placeAfterInterruption({
      place: placeOf(orphan, scaleMs),
      startedAt: sentAt,
      firstAttemptAt: orphan.firstAttemptAt ?? sentAt,
      random: random(),
      scaleMs,
    })
}

/**
 * Times of the last success at endpoints where a success changes nothing else: kept in memory and written
 * together now and then.
 */
export type RecordSuccesses = {
  add(webhookId: string, at: Date): void
  /** Writes all times. Those that cannot be written are kept for the next time. Never rejects. */
  flush(): Promise<void>
}

/**
 * A crash loses what was added since the last flush. That counts against an endpoint only when a whole
 * schedule has failed since.
 */
export function createRecordSuccesses({ endpoints, logger }: Deps): RecordSuccesses {
  let times = new Map<string, Date>()
  const add = (webhookId: string, at: Date) => {
    const kept = times.get(webhookId)
    if (kept === undefined || kept < at) times.set(webhookId, at)
  }

  return {
    add,
    async flush() {
      if (times.size === 0) return
      const written = times
      times = new Map()
      try {
        await endpoints.noteSuccesses(written)
      } catch (err) {
        for (const [webhookId, at] of written) add(webhookId, at)
        logger.warn({ err, endpoints: written.size }, 'successes.not-noted')
      }
    },
  }
}
