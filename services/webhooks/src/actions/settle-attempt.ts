import { setTimeout as delay } from 'node:timers/promises'
import { failpoint } from '@pitboss/runtime/failpoint'
import { type DeliveryOutcome, judgeAttempt } from '../rules/retry-schedule.ts'
import { presentDelivery } from '../records/webhook-records.ts'
import type { AttemptResult, EndpointHealth } from '../rules/endpoint-health.ts'
import { afterAttempt, inFlightMaxOf } from '../rules/endpoint-health.ts'
import { isUnsubscribed } from '../rules/subscription.ts'
import { type DueDelivery, type EndpointDocument, never } from '../storage/collections.ts'
import { type Chosen, type EndpointRun, finish, type RunContext } from './endpoint-run.ts'
import type { AttemptOutcome } from './make-attempt.ts'
import { completeFresh } from './pass-events.ts'
import type { WebhooksContext } from '../context.ts'
import { createMailbox, type Mailbox } from '@pitboss/runtime/mailbox'
import type { EndpointStore } from '../storage/endpoint-store.ts'

const triesMax = 6
const retryFirstMs = 200

type Attempt = {
  readonly delivery: DueDelivery
  readonly outcome: AttemptOutcome
  readonly chosen: Chosen
  /** It is the first one at a new delivery, which is not stored. */
  readonly isFresh: boolean
}

/** Settles health, then the delivery under its claim, until it is known: nobody is asked again for that. */
export async function settleAttempt(c: RunContext, run: EndpointRun, attempt: Attempt): Promise<void> {
  const { view } = run
  const { delivery, outcome, chosen } = attempt
  const { settled, isWritten } = await writeUntilKnown(c, run, attempt)
  await failpoint('webhooks.settled')
  finish(c, run, chosen)
  // Unless it is written, another worker settles this delivery.
  if (!isWritten) view.markStale()
  else if (settled.status === 'PENDING' || settled.status === 'HELD') view.putBack(settled)
  const { sentAt, durationMs: duration_ms, httpStatus: http_status, error } = outcome.record
  if (outcome.ok && delivery.eventType !== 'webhook.test') {
    run.lastSuccessAt = outcome.at
    noteSuccess(c.memory.successes, run.webhookId, outcome.at)
  }
  c.onAttempt(delivery, { ok: outcome.ok, sentAt, durationMs: duration_ms ?? 0 })
  const ids = { delivery_id: delivery._id, event_id: delivery.eventId, attempt: delivery.attemptCount }
  const ended = { http_status, error, duration_ms, status: settled.status, written: isWritten }
  run.logger.info({ ...ids, ...ended }, 'delivery.attempted')
}

async function writeUntilKnown(c: RunContext, run: EndpointRun, attempt: Attempt): ReturnType<typeof write> {
  for (let tried = 1; ; tried++) {
    try {
      return await write(c, run, attempt)
    } catch (err) {
      if (tried >= triesMax) throw err
      run.logger.warn({ err, delivery_id: attempt.delivery._id }, 'delivery.not-settled')
      await delay(retryFirstMs * 2 ** (tried - 1))
    }
  }
}

async function write(c: RunContext, run: EndpointRun, attempt: Attempt) {
  const { view } = run
  const { delivery, outcome, chosen, isFresh } = attempt
  const { ok, at, retryAfterMs, record } = outcome
  const isFullyHealthy = view.isFullyHealthy()
  const firstAttemptAt = delivery.firstAttemptAt ?? record.sentAt
  const { step, stepDueAt, single } = delivery
  const judged = judgeAttempt({
    ...{ ok, at, retryAfterMs, firstAttemptAt, place: { step, stepDueAt }, single },
    ...{ startedAt: delivery.claimedAt ?? record.sentAt, random: c.random(), scaleMs: c.scaleMs },
  })
  // A success at a fully healthy endpoint changes only its time, which is written later, with others.
  const { eventType, failedInStreak } = delivery
  const changesHealth = eventType !== 'webhook.test' && outcome.asked && !(ok && isFullyHealthy)
  const exhausted = judged.kind === 'failed' && judged.scheduleSpent
  const attempted = { gone: outcome.gone, probe: chosen.probe, eventType, exhausted, failedInStreak }
  const result = { at, ok, firstAttemptAt, ...attempted }
  const changed = changesHealth ? await noteResult(c, run, result) : null
  if (changed !== null) view.changed(changed.endpoint)
  await failpoint('webhooks.health-settled')
  const failedUnder = ok ? null : (changed?.health ?? null)
  const storedAt = c.clock.now()
  const endedAt = record.durationMs === null ? at : new Date(record.sentAt.getTime() + record.durationMs)
  const fields = {
    attemptedAt: storedAt,
    ...settledFields(delivery, judged, endedAt, changed),
    firstAttemptAt,
    failedInStreak: failedUnder === null ? failedInStreak : failedUnder.streak.number,
    pulledFor: failedUnder === null ? delivery.pulledFor : (failedUnder.breaker.closedAt ?? null),
  }
  const stored = { ...record, storedAt }
  const writing = isFresh
    ? completeFresh(c, run, delivery, fields, stored)
    : c.deliveries.complete(delivery, fields, stored)
  // A success that changes nothing else gives its slot back while it is written: later claims are in the same
  // write or in a later one. A new one may wait for others of its range.
  if (ok && (isFresh || isFullyHealthy)) finish(c, run, chosen)
  const isWritten = await writing
  const settled = { ...delivery, ...fields, claimToken: 0, claimedAt: null }
  const shown = () => presentDelivery({ ...settled, attempts: [record] })
  if (isWritten) c.notes.tell(delivery, 'deliveries', shown)
  return { settled, isWritten }
}

function noteResult(c: RunContext, { view, lastSuccessAt }: EndpointRun, result: AttemptResult) {
  return changeHealth(c, view.endpoint(), (current) => {
    const { lastSuccessAt: known } = current.health
    const isNewer = lastSuccessAt !== null && (known === null || known < lastSuccessAt)
    const health = isNewer ? { ...current.health, lastSuccessAt } : current.health
    return afterAttempt(health, result, c.scaleMs, inFlightMaxOf(current))
  })
}

function settledFields(delivery: DueDelivery, judged: DeliveryOutcome, at: Date, changed: Changed) {
  const endpoint = changed?.endpoint ?? null
  const ended = { dueAt: never, nextAttemptAt: null }
  if (judged.kind === 'delivered') return { status: 'DELIVERED', deliveredAt: at, ...ended } as const
  if (judged.kind === 'failed') return { status: 'FAILED', ...ended } as const
  const lane = delivery.lane === 'replay' ? 'replay' : 'retry'
  const next = { lane, ...judged.place } as const
  const isUnsubscribedNow = endpoint !== null && isUnsubscribed(endpoint, { ...delivery, lane })
  if (isUnsubscribedNow || (endpoint?.deletedAt ?? null) !== null)
    return { status: 'CANCELLED', ...next, ...ended } as const
  if (endpoint?.health.status === 'PAUSED') return { status: 'HELD', ...next, ...ended } as const
  return { status: 'PENDING', ...next, dueAt: next.stepDueAt, nextAttemptAt: next.stepDueAt } as const
}

/** Writes the times of last successes. A crash may lose a second of them. Never rejects. */
export async function writeSuccesses(c: WebhooksContext, successes: Map<string, Date>): Promise<void> {
  const { endpoints, logger } = c
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

function noteSuccess(successes: Map<string, Date>, webhookId: string, at: Date): void {
  const kept = successes.get(webhookId)
  if (kept === undefined || kept < at) successes.set(webhookId, at)
}

type Change = (endpoint: EndpointDocument) => EndpointHealth
type Changed = Awaited<ReturnType<typeof changeHealth>>
type Group = { readonly changes: Change[]; readonly done: ReturnType<typeof writeHealth> }

/** Changes of health that wait for the one that is being written. */
export type HealthChanges = { readonly inTurn: Mailbox; readonly waiting: Map<string, Group> }

export const newHealthChanges = (): HealthChanges => ({ inTurn: createMailbox(), waiting: new Map() })

type HealthContext = Pick<WebhooksContext, 'endpoints'> & { memory: { healthChanges: HealthChanges } }

/** Changes the health of an endpoint, one write at a time for all that wait. Null for an unknown endpoint. */
export async function changeHealth(c: HealthContext, known: EndpointDocument, change: Change) {
  const { inTurn, waiting } = c.memory.healthChanges
  const { _id } = known
  const changes = waiting.get(_id)?.changes ?? []
  const index = changes.push(change) - 1
  const write = () => {
    waiting.delete(_id)
    return writeHealth(c.endpoints, known, changes)
  }
  const group = waiting.get(_id) ?? { changes, done: inTurn(_id, write) }
  waiting.set(_id, group)
  return (await group.done)[index] ?? null
}

/** @returns the endpoint afterwards with its health after each change */
async function writeHealth(endpoints: EndpointStore, known: EndpointDocument, changes: readonly Change[]) {
  let healths: EndpointHealth[] = []
  const decide = (current: EndpointDocument) => {
    healths = []
    let { health } = current
    for (const change of changes) healths.push((health = change({ ...current, health })))
    return { $set: { health } }
  }
  const endpoint = await endpoints.change(known, known._id, decide, known)
  return endpoint === null ? [] : healths.map((health) => ({ endpoint, health }))
}
