import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { failpoint } from '@pitboss/runtime/failpoint'
import { inFlightMaxOf } from '../rules/endpoint-health.ts'
import {
  addEvent,
  knownTo,
  nextRange,
  noteEvent,
  type Passage,
  passTo,
  sendableTo,
} from '../rules/passage.ts'
import { asideOf, stuckWaitingMs, unstoredMsMax, waitingMsMax } from '../rules/put-aside.ts'
import {
  type AttemptRecord,
  type DeliveryDocument,
  type DueDelivery,
  type EndpointDocument,
  never,
} from '../storage/collections.ts'
import type { LoggedEvent } from '../storage/event-log.ts'
import { newInterrupted } from '../storage/interrupted-delivery.ts'
import { deliveryIdOf, type NewDelivery, newClaimed, newDocument } from '../storage/new-delivery.ts'
import type { AcceptedDelivery } from '../storage/range-store.ts'
import { createPlaceAfter } from './settle-attempt.ts'
import { takeOverPassage } from './take-over-passage.ts'
import type { Deps } from './deps.ts'

/*
 * New deliveries of one endpoint: the events after its cursor. One that is accepted at once becomes an item
 * of the next range. Every other one is stored as a document of its own, and goes on as such: one that
 * failed, that is under way for long, that waits for long, or that is held or cancelled. A document is stored
 * before the range that passes its event.
 */

const pageSize = 200
/** New deliveries that are known and wait; more of them stay in the log. */
const waitingMax = 500
const storedTogetherMax = 100
const retryFirstMs = 100
const retryLastMs = 2000

/** Events that may have an attempt of which nothing is on record, for an endpoint of this setting. */
export function aheadOf(endpoint: Pick<EndpointDocument, 'maxInFlight'>): number {
  return 2 * inFlightMaxOf(endpoint)
}

type Fresh = {
  readonly event: LoggedEvent
  readonly delivery: NewDelivery
  readonly due: DueDelivery
  /** The delivery in flight, and when its attempt began on the steady clock; null while it waits. */
  sent: { readonly claimed: DueDelivery; readonly atMs: number } | null
}

/** A document that is to be stored, or just being stored. */
type Storing = {
  document: DeliveryDocument
  readonly seq: number
  isWriting: boolean
  readonly end: PromiseWithResolvers<void>
}

export type PassEvents = NonNullable<Awaited<ReturnType<typeof openPassing>>>

/**
 * Begins to pass the log for an endpoint under its lease.
 * @param mayHaveSent so many events after its last range may have been sent under an earlier lease
 * @param onStored takes what waits as a document from now on
 * @param onChange something came to an end
 * @returns null when the lease is lost
 */
export async function openPassing(
  deps: Pick<
    Deps,
    | 'endpoints'
    | 'tail'
    | 'events'
    | 'ranges'
    | 'deliveries'
    | 'clock'
    | 'newId'
    | 'logger'
    | 'scaleMs'
    | 'random'
  >,
  leased: EndpointDocument,
  {
    mayHaveSent,
    mayWrite,
    onStored,
    onChange,
  }: {
    mayHaveSent: number
    mayWrite: () => boolean
    onStored: (delivery: DueDelivery) => void
    onChange: () => void
  },
) {
  const { endpoints, tail, events: log, ranges, deliveries, clock, newId } = deps
  const { _id: webhookId, operatorId, environment, leaseToken: token } = leased
  const scope = { operatorId, environment }
  const logger = deps.logger.child({ webhook_id: webhookId })
  const fresh = new Map<string, Fresh>()
  const storing = new Map<string, Storing>()
  const accepted = new Map<number, PromiseWithResolvers<boolean>>()
  let endNoted = 0
  let isLost = false
  let settling: Promise<void> | null = null

  const isWanted = ({ targets }: Pick<LoggedEvent, 'targets'>) => targets.includes(webhookId)
  const deliveryOf = ({ id, type, recordedAt, traceparent }: LoggedEvent): NewDelivery => ({
    ...{ _id: deliveryIdOf(id, webhookId, 0), ...scope, webhookId, eventId: id, eventType: type },
    ...{ lane: 'fresh', createdAt: recordedAt },
    ...(traceparent === undefined ? {} : { traceparent }),
  })

  /** Where the endpoint stands: after its last range, or where it begins. */
  async function readCursor(): Promise<number> {
    const passed = await ranges.endOf(webhookId)
    // Read after the ranges: another worker may pass what is recorded meanwhile.
    const end = await log.endOf(scope)
    endNoted = Math.max(endNoted, end)
    if (passed !== null && passed > end) {
      const removed = await ranges.removeAfter(webhookId, end)
      logger.error({ passed, end, removed }, 'ranges.ahead-of-log')
      return readCursor()
    }
    return passed ?? leased.beginsAfter ?? Math.max(0, (await log.endOfFirst(scope)) - mayHaveSent)
  }

  /** Inserts it until it is known whether it stands. @throws when this process may write no more */
  async function insertRange(range: Parameters<typeof ranges.insert>[1]): Promise<boolean> {
    const write = { w: newId('rng'), at: clock.now() }
    return untilKnown('range.not-inserted', () => ranges.insert(leased, range, write))
  }

  async function untilKnown<Result>(event: string, work: () => Promise<Result>): Promise<Result> {
    for (let waitMs = retryFirstMs; ; waitMs = Math.min(2 * waitMs, retryLastMs)) {
      if (!mayWrite()) throw new Error('this process may not write for the endpoint any more')
      try {
        return await work()
      } catch (err) {
        logger.warn({ err }, event)
        await pause(waitMs)
      }
    }
  }

  const begun = await takeOverPassage<LoggedEvent, AcceptedDelivery>(
    {
      readCursor,
      holdsLease: async () => (await endpoints.readTogether(webhookId))?.leaseToken === token,
      readAfter: (afterSeq) => tail.readAfter(scope, afterSeq, pageSize),
      isWanted,
      async storeInterrupted(events) {
        const now = clock.now()
        const placeAfter = createPlaceAfter(deps)
        await deliveries.insertAbsent(
          events.map((event) => newInterrupted(deliveryOf(event), now, placeAfter)),
        )
        logger.warn({ events: events.length }, 'deliveries.interrupted')
      },
      insertRange,
    },
    mayHaveSent,
  )
  if (begun === null) return null
  const passage: Passage<AcceptedDelivery> = begun

  /** Has a document stored, and its event passed then. */
  function store(seq: number, document: DeliveryDocument): Promise<void> {
    const one: Storing = { document, seq, isWriting: false, end: Promise.withResolvers() }
    one.end.promise.catch(() => undefined)
    storing.set(document._id, one)
    fresh.delete(document._id)
    settle()
    return one.end.promise
  }

  function settle(): void {
    settling ??= settleAll()
      .catch((err: unknown) => {
        isLost = true
        logger.error({ err }, 'events.not-passed')
      })
      .finally(() => {
        settling = null
        if (isLost) giveUp()
        onChange()
      })
  }

  /** Stores documents and ranges until there is nothing to be stored. One command at a time. */
  async function settleAll(): Promise<void> {
    while (!isLost) {
      // What else comes to an end in this turn of the loop goes along.
      await turn()
      const group = [...storing.values()].slice(0, storedTogetherMax)
      if (group.length > 0) await storeTogether(group)
      const range = nextRange(passage, ({ createdAt }) => createdAt.getTime())
      if (range === null) {
        if (storing.size === 0) return
        continue
      }
      if (!(await insertRange(range))) {
        isLost = true
        logger.warn({ first: range.first }, 'range.lost')
        return
      }
      passTo(passage, range.to)
      for (const { seq } of range.items) {
        accepted.get(seq)?.resolve(true)
        accepted.delete(seq)
      }
      await failpoint('webhooks.passed')
      onChange()
    }
  }

  async function storeTogether(group: readonly Storing[]): Promise<void> {
    for (const one of group) one.isWriting = true
    await failpoint('webhooks.put-aside')
    await untilKnown('deliveries.not-stored', () =>
      deliveries.insertAbsent(group.map(({ document }) => document)),
    )
    for (const { document, seq, end } of group) {
      storing.delete(document._id)
      noteEvent(passage, seq, { kind: 'aside' })
      const { attempts: _, ...due } = document
      if (document.claimToken === 0 && document.status !== 'CANCELLED') onStored(due)
      end.resolve()
    }
  }

  function giveUp(): void {
    for (const one of accepted.values()) one.resolve(false)
    accepted.clear()
    for (const { end } of storing.values()) end.reject(new Error('another worker passes the log'))
    storing.clear()
  }

  return {
    /** Whether another worker passes the log, or this one may not write any more. */
    isLost: () => isLost,
    cursor: () => passage.cursor,
    /** Whether all events that are known of are passed. */
    isDone: () => knownTo(passage) >= endNoted && passage.known.length === 0 && storing.size === 0,
    /** Whether nothing of it is on its way to be stored. */
    isSettled: () => settling === null && storing.size === 0 && accepted.size === 0,

    /** Notes that the log has come to `seq`. @returns whether that was not known */
    noteEnd(seq: number): boolean {
      if (seq <= endNoted) return false
      endNoted = seq
      return true
    },

    /** Reads events that are known of, as many as are kept in memory. */
    async readOn(): Promise<void> {
      while (knownTo(passage) < endNoted && fresh.size < waitingMax) {
        const events = await tail.readAfter(scope, knownTo(passage), pageSize)
        if (events.length === 0) {
          // The log was set back, or what told of its end spoke of another.
          endNoted = knownTo(passage)
          return
        }
        for (const event of events) {
          addEvent(passage, isWanted(event))
          if (!isWanted(event)) continue
          const delivery = deliveryOf(event)
          const { attempts: _, ...due } = newDocument(delivery)
          fresh.set(delivery._id, { event, delivery, due, sent: null })
        }
        if (nextRange(passage, ({ createdAt }) => createdAt.getTime()) !== null) settle()
      }
    },

    /** Those that may be sent now, in the order of the log. */
    sendable(ahead: number): DueDelivery[] {
      const to = sendableTo(passage, ahead)
      return [...fresh.values()].flatMap(({ event, due, sent }) =>
        sent === null && event.seq <= to ? [due] : [],
      )
    },

    /** The first that waits, in the order of the log; null for none. */
    first: (): DueDelivery | null => [...fresh.values()].find(({ sent }) => sent === null)?.due ?? null,

    has: (id: string): boolean => fresh.has(id),

    /** Notes that the first attempt at a delivery begins. @returns it, in flight, and what is sent */
    send(id: string, now: Date): { claimed: DueDelivery; body: string } | null {
      const one = fresh.get(id)
      if (one === undefined) return null
      const claimed = newClaimed(one.delivery, token, now)
      one.sent = { claimed, atMs: performance.now() }
      noteEvent(passage, one.event.seq, { kind: 'sent' })
      return { claimed, body: one.event.body }
    },

    /**
     * Stores what cannot be sent, and what is under way for long.
     * @param isStuck the endpoint keeps all its places for long: then what comes later goes along, many at a
     * time
     * @returns in how many milliseconds that is to be looked at again; null while nothing waits
     */
    putAside(endpoint: EndpointDocument, now: Date, isStuck: boolean): number | null {
      const nowMs = performance.now()
      let againMs: number | null = null
      const again = (ms: number) => void (againMs = Math.min(againMs ?? ms, Math.max(1, ms)))
      const waiting = [...fresh.values()].filter(({ sent }) => sent === null)
      const isDue = isStuck && waiting.some(({ event }) => asideOf(endpoint, event, now) !== null)
      const until = new Date(now.getTime() + (isDue ? waitingMsMax - stuckWaitingMs : 0))
      for (const { event, due, sent } of [...fresh.values()]) {
        if (sent !== null) {
          const leftMs = sent.atMs + unstoredMsMax - nowMs
          if (leftMs > 0) again(leftMs)
          else void store(event.seq, { ...sent.claimed, attempts: [] })
          continue
        }
        const status = asideOf(endpoint, event, until)
        if (status === null) again(event.recordedAt.getTime() + waitingMsMax - now.getTime())
        else if (status === 'PENDING') void store(event.seq, { ...due, attempts: [] })
        else void store(event.seq, { ...due, status, dueAt: never, nextAttemptAt: null, attempts: [] })
      }
      return againMs
    },

    /**
     * Writes the outcome of a first attempt.
     * @returns false when another worker has made up for the delivery
     */
    async complete(
      claimed: DueDelivery,
      fields: Partial<DeliveryDocument>,
      attempt: AttemptRecord,
    ): Promise<boolean> {
      const one = fresh.get(claimed._id)
      if (isLost) return false
      if (one !== undefined && fields.status === 'DELIVERED') {
        fresh.delete(claimed._id)
        const { eventId, createdAt } = claimed
        const item = { eventId, eventType: one.event.type, createdAt, attempt }
        noteEvent(passage, one.event.seq, { kind: 'accepted', item })
        const end = Promise.withResolvers<boolean>()
        accepted.set(one.event.seq, end)
        settle()
        return end.promise
      }
      const ended = { ...claimed, ...fields, claimToken: 0, claimedAt: null, attempts: [attempt] }
      if (one !== undefined)
        return store(one.event.seq, ended).then(
          () => true,
          () => false,
        )
      const under = storing.get(claimed._id)
      if (under !== undefined && !under.isWriting) {
        under.document = ended
        return under.end.promise.then(
          () => true,
          () => false,
        )
      }
      await under?.end.promise.catch(() => undefined)
      return isLost ? false : deliveries.complete(claimed, fields, attempt)
    },

    /** Waits until everything that has come to an end is stored. */
    async drain(): Promise<void> {
      while (settling !== null && !isLost) await settling
    },
  }
}
