import type { Scope } from '@pitboss/contracts/caller'
import { createSignal } from '@pitboss/runtime/poll'
import { placeAfterInterruption } from '../rules/delivery-outcome.ts'
import { knownTo, type Passage } from '../rules/passage.ts'
import type { DeliveryDocument, DueDelivery, EndpointDocument } from '../storage/collections.ts'
import type { LoggedEvent } from '../storage/event-log.ts'
import { newInterrupted, type PlaceAfter } from '../storage/interrupted-delivery.ts'
import { newDeliveryOf } from '../storage/new-delivery.ts'
import type { AcceptedDelivery } from '../storage/range-store.ts'
import type { WebhooksContext } from '../context.ts'
import { insertRange } from './store-passing.ts'
import { takeOverPassage } from './take-over-passage.ts'

/*
 * New deliveries of one endpoint: the events after its cursor. One that is accepted at once becomes an item
 * of the next range. Every other one is stored as a document of its own, and goes on as such: one that
 * failed, that is under way for long, that waits for a breaker, or that is held or cancelled. A document is
 * stored before the range that passes its event.
 */

/** A take-over reads so many events from the log together. */
const logPageSize = 200

/** A new delivery that waits. */
type Fresh = { readonly event: LoggedEvent; readonly due: DueDelivery }

/** A delivery in flight with its first attempt, which began at `atMs` on the steady clock. */
type Sent = { readonly event: LoggedEvent; readonly claimed: DueDelivery; readonly atMs: number }

/** A document that is to be stored, or just being stored. */
export type Storing = {
  document: DeliveryDocument
  readonly seq: number
  isWriting: boolean
  readonly end: PromiseWithResolvers<void>
}

/** What is done for the worker that passes the log. */
type PassingHooks = {
  readonly mayWrite: () => boolean
  /** Takes what waits as a document from now on. */
  readonly onStored: (delivery: DueDelivery) => void
  /** Something came to an end. */
  readonly onChange: () => void
}

/** How far an endpoint has passed the log, under its lease. */
export type Passing = PassingHooks & {
  readonly leased: EndpointDocument
  readonly scope: Scope
  readonly passage: Passage<AcceptedDelivery>
  /** What waits, in the order of the log, by the ids of the deliveries; and what is under way. */
  readonly fresh: Map<string, Fresh>
  readonly sent: Map<string, Sent>
  readonly storing: Map<string, Storing>
  /** Accepted deliveries whose range does not stand yet, by the numbers of their events. */
  readonly accepted: Map<number, PromiseWithResolvers<boolean>>
  /** The number to which the log has come, as far as is known. */
  endNoted: number
  /** Whether another worker passes the log, or this one may not write any more. */
  isLost: boolean
  settling: Promise<void> | null
  /** Has what came to an end stored at once. */
  readonly hurry: ReturnType<typeof createSignal>
}

/**
 * Begins to pass the log for an endpoint under its lease.
 * @param mayHaveSent so many events after its last range may have been sent under an earlier lease
 * @returns null when the lease is lost
 */
export async function openPassing(
  c: WebhooksContext,
  leased: EndpointDocument,
  mayHaveSent: number,
  hooks: PassingHooks,
): Promise<Passing | null> {
  const { _id: webhookId, leaseToken } = leased
  const scope = { operatorId: leased.operatorId, environment: leased.environment }
  let endNoted = 0
  const passage = await takeOverPassage<LoggedEvent, AcceptedDelivery>(
    {
      async readCursor() {
        const { cursor, end } = await readCursor(c, leased, mayHaveSent)
        endNoted = Math.max(endNoted, end)
        return cursor
      },
      holdsLease: async () => (await c.endpoints.readTogether(webhookId))?.leaseToken === leaseToken,
      readAfter: (afterSeq) => c.tail.readAfter(scope, afterSeq, logPageSize),
      isWanted: ({ targets }) => targets.includes(webhookId),
      async storeInterrupted(events) {
        const now = c.clock.now()
        const placeAfter = createPlaceAfter(c)
        await c.deliveries.insertAbsent(
          events.map((event) => newInterrupted(newDeliveryOf(webhookId, event), now, placeAfter)),
        )
        c.logger.warn({ webhook_id: webhookId, events: events.length }, 'deliveries.interrupted')
      },
      insertRange: (range) => insertRange(c, { leased, mayWrite: hooks.mayWrite }, range),
    },
    mayHaveSent,
  )
  if (passage === null) return null
  return {
    ...{ ...hooks, leased, scope, passage, endNoted, isLost: false, settling: null },
    ...{ fresh: new Map(), sent: new Map(), storing: new Map(), accepted: new Map(), hurry: createSignal() },
  }
}

/** The place on its schedule of a delivery whose attempt has an unknown outcome. */
export function createPlaceAfter(c: Pick<WebhooksContext, 'scaleMs' | 'random'>): PlaceAfter {
  const { scaleMs, random } = c
  return ({ step, stepDueAt, firstAttemptAt }, sentAt) =>
    placeAfterInterruption({
      ...{ place: { step, stepDueAt }, startedAt: sentAt, firstAttemptAt: firstAttemptAt ?? sentAt },
      ...{ random: random(), scaleMs },
    })
}

/** Where the endpoint stands: after its last range, or where it begins; and the end of its log. */
async function readCursor(
  c: WebhooksContext,
  leased: EndpointDocument,
  mayHaveSent: number,
): Promise<{ cursor: number; end: number }> {
  const { _id: webhookId } = leased
  const passed = await c.ranges.endOf(webhookId)
  // Read after the ranges: another worker may pass what is recorded meanwhile.
  const end = await c.events.endOf(leased)
  if (passed !== null && passed > end) {
    const removed = await c.ranges.removeAfter(webhookId, end)
    c.logger.error({ webhook_id: webhookId, passed, end, removed }, 'ranges.ahead-of-log')
    return readCursor(c, leased, mayHaveSent)
  }
  const begins = leased.beginsAfter ?? Math.max(0, (await c.events.endOfFirst(leased)) - mayHaveSent)
  return { cursor: passed ?? begins, end }
}

/** Notes that the log has come to `seq`. @returns whether that was not known */
export function noteEnd(passing: Passing, seq: number): boolean {
  if (seq <= passing.endNoted) return false
  passing.endNoted = seq
  return true
}

/** Whether all events that are known of are passed. */
export function isPassed({ passage, endNoted, storing }: Passing): boolean {
  return knownTo(passage) >= endNoted && passage.known.length === 0 && storing.size === 0
}

/** Whether nothing of it is on its way to be stored. */
export function isSettled({ settling, storing, accepted }: Passing): boolean {
  return settling === null && storing.size === 0 && accepted.size === 0
}

/** The first new delivery that waits, in the order of the log; null for none. */
export function firstWaiting({ fresh }: Passing): DueDelivery | null {
  const [first] = fresh.values()
  return first?.due ?? null
}
