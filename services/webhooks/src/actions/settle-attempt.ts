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
import { changeHealth, type HealthChanges } from './change-health.ts'
import type { EndpointView } from './endpoint-view.ts'
import type { AttemptOutcome } from './make-attempt.ts'
import type { WebhooksContext } from '../context.ts'

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

type Settled = {
  readonly status: DeliveryDocument['status']
  /** False when the claim was lost: another worker settles this delivery. */
  readonly written: boolean
  /** The delivery as it waits again, or is held; null when it has ended. */
  readonly again: DueDelivery | null
}

type SettleContext = Pick<
  WebhooksContext,
  'endpoints' | 'notes' | 'clock' | 'scaleMs' | 'random' | 'logger'
> & {
  readonly memory: { readonly healthChanges: HealthChanges }
}

/**
 * Writes the result of an attempt: the endpoint's health in one update, then the delivery in one update
 * fenced by its claim. A crash in between repeats the attempt. Tests never touch the health. The receiver
 * has been asked: it must not be asked again because the database is away for a moment.
 */
export async function settleAttempt(c: SettleContext, attempt: Attempt): Promise<Settled> {
  for (let tried = 1; ; tried++) {
    try {
      return await write(c, attempt)
    } catch (err) {
      if (tried >= triesMax) throw err
      const { _id, webhookId } = attempt.delivery
      c.logger.warn({ err, webhook_id: webhookId, delivery_id: _id }, 'delivery.not-settled')
      await delay(retryFirstMs * 2 ** (tried - 1))
    }
  }
}

async function write(c: SettleContext, attempt: Attempt): Promise<Settled> {
  const { delivery, outcome, view } = attempt
  const firstAttemptAt = delivery.firstAttemptAt ?? outcome.record.sentAt
  const judged = judgeAttempt({
    ...{ ok: outcome.ok, at: outcome.at, retryAfterMs: outcome.retryAfterMs, firstAttemptAt },
    ...{ place: placeOf(delivery, c.scaleMs), single: delivery.single },
    startedAt: delivery.claimedAt ?? outcome.record.sentAt,
    ...{ random: c.random(), scaleMs: c.scaleMs },
  })
  const changed = changesHealth(attempt) ? await noteOutcome(c, attempt, judged, firstAttemptAt) : null
  if (changed !== null) view.changed(changed.endpoint)
  await failpoint('webhooks.health-settled')
  const failedUnder = outcome.ok ? null : (changed?.health ?? null)
  const storedAt = c.clock.now()
  const fields = {
    attemptedAt: storedAt,
    ...settledFields(delivery, judged, endedAt(outcome), changed?.endpoint ?? null),
    firstAttemptAt,
    failedInStreak: failedUnder === null ? delivery.failedInStreak : failedUnder.streak.number,
    pulledFor: (failedUnder === null ? delivery.pulledFor : failedUnder.breaker.closedAt) ?? null,
  }
  const writing = attempt.complete(delivery, fields, { ...outcome.record, storedAt })
  attempt.onWriting()
  const written = await writing
  const settled = { ...delivery, ...fields, claimToken: 0, claimedAt: null }
  if (written) {
    const ended = { ...settled, attempts: [outcome.record] }
    c.notes.tell(delivery, 'deliveries', () => presentDelivery(ended))
  }
  const isOver = settled.status !== 'PENDING' && settled.status !== 'HELD'
  return { status: fields.status, written, again: isOver ? null : settled }
}

/** A success at a fully healthy endpoint changes its time alone, which is written later, with others. */
function changesHealth({ delivery, outcome, view }: Attempt): boolean {
  return delivery.eventType !== 'webhook.test' && outcome.asked && !(outcome.ok && view.isFullyHealthy())
}

function noteOutcome(
  c: SettleContext,
  { delivery, outcome, probe, view, ...attempt }: Attempt,
  judged: DeliveryOutcome,
  firstAttemptAt: Date,
) {
  const lastSuccessAt = attempt.lastSuccessAt()
  const { eventType, failedInStreak } = delivery
  const { at, ok, gone } = outcome
  const exhausted = judged.kind === 'failed' && judged.scheduleSpent
  return changeHealth(c, view.endpoint(), (current) =>
    afterAttempt(
      withLastSuccess(current.health, lastSuccessAt),
      { at, ok, gone, probe, eventType, exhausted, firstAttemptAt, failedInStreak },
      c.scaleMs,
      inFlightMaxOf(current),
    ),
  )
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

/** The place on its schedule of a delivery whose attempt has an unknown outcome. */
export function createPlaceAfter(c: Pick<WebhooksContext, 'scaleMs' | 'random'>): PlaceAfter {
  const { scaleMs, random } = c
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
 * Writes the times of the last success at endpoints where a success changes nothing else. Those that cannot
 * be written are kept for the next time. A crash loses what was added since: that counts against an endpoint
 * only when a whole schedule has failed since. Never rejects.
 */
export async function writeSuccesses(
  { endpoints, logger }: Pick<WebhooksContext, 'endpoints' | 'logger'>,
  successes: Map<string, Date>,
): Promise<void> {
  if (successes.size === 0) return
  const written = new Map(successes)
  successes.clear()
  try {
    await endpoints.noteSuccesses(written)
  } catch (err) {
    for (const [webhookId, at] of written) noteSuccess(successes, webhookId, at)
    logger.warn({ err, endpoints: written.size }, 'successes.not-noted')
  }
}

/** Keeps the time of a success to be written together with others. */
export function noteSuccess(successes: Map<string, Date>, webhookId: string, at: Date): void {
  const kept = successes.get(webhookId)
  if (kept === undefined || kept < at) successes.set(webhookId, at)
}
