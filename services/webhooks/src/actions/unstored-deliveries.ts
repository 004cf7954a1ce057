import { setTimeout as delay } from 'node:timers/promises'
import { partition } from '@pitboss/runtime/partition'
import { createSignal } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import { batchCalls } from '../storage/batch-calls.ts'
import type { DeliveryDocument, DeliveryStatus, DueDelivery } from '../storage/collections.ts'
import { claimedOf } from '../storage/delivery-claims.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import { type NewDelivery, newDocument } from '../storage/new-delivery.ts'

/*
 * Deliveries that this process has made of events that it has recorded, and sends before they are stored: one
 * whose attempt ends soon is stored once, with the outcome, instead of three times. Nothing but the stream
 * remembers the others, so their events are acknowledged once all are stored. Whoever finds an event recorded
 * and its delivery missing knows that the number of the first attempt may be used up (`newInterrupted`).
 */

/** A delivery waits for its first attempt no longer than this before it is stored. Source: ours. */
const waitingMsMax = 1000
/** An attempt that takes longer is stored as one in flight. Source: ours. */
const inFlightMsMax = 250
/** With more of them, new ones are stored at once: 8 MB. Source: ours. */
const keptMax = 4000
const lookEveryMs = 50
const retryMs = 200
const groupMax = 200

type Kept = {
  /** As it would be stored now. */
  document: DeliveryDocument
  /** When it is stored as it is then. */
  dueMs: number
  /** Its insert under way; never rejects. */
  storing: Promise<unknown> | null
  readonly end: PromiseWithResolvers<void>
}

/** The calls of the delivery store that know the deliveries which are not stored yet. */
type Covering = Pick<
  DeliveryStore,
  'claim' | 'complete' | 'existing' | 'statusesOfEvents' | 'upcoming' | 'upcomingIn' | 'cancelWaiting'
>

export type UnstoredDeliveries = {
  /**
   * Takes over deliveries of events that this process has recorded itself, and has them stored.
   * @returns once all are stored, and known to whoever has to send them. Rejects when the process stops and
   * the database is away; then they must be looked for again
   */
  keep(fresh: readonly NewDelivery[]): Promise<void>
  /** Puts those in flight that wait here, as they are given. @returns the ids of those */
  take(claimed: readonly DueDelivery[]): Set<string>
  /** Settles when none of these waits to be stored, as `keep` does. */
  whenStored(ids: readonly string[]): Promise<void>
  /** Stores these as they are now, for others to send. */
  storeNow(ids: readonly string[]): Promise<void>
  /** Stores all of them as they are now, and from now until then each that comes. Never rejects. */
  drain(): Promise<void>
  readonly covering: Covering
}

/**
 * @param stored the delivery store itself
 * @param announce tells the workers of those that were stored before their first attempt had ended
 */
export function createUnstoredDeliveries({
  stored,
  announce,
  logger,
}: {
  stored: DeliveryStore
  announce: (documents: readonly DeliveryDocument[]) => Promise<void>
  logger: Pick<Logger, 'warn'>
}): UnstoredDeliveries {
  const kept = new Map<string, Kept>()
  const signal = createSignal()
  let working: Promise<void> | null = null
  let draining = 0

  const insert = batchCalls<DeliveryDocument, boolean>({
    async run(documents) {
      const made = await stored.insertAbsent(documents)
      return documents.map(({ _id }) => made.has(_id))
    },
    itemsMax: groupMax,
    failsByOne: () => false,
  })
  const isDue = ({ dueMs }: Kept) => draining > 0 || performance.now() >= dueMs
  const waits = (one: Kept) => one.storing === null && one.document.claimToken === 0 && !isDue(one)

  /** @returns false when it is there already: stored by somebody else, or by a call whose answer was lost */
  async function store(one: Kept, document: DeliveryDocument): Promise<boolean> {
    const inserted = insert([document])
    one.storing = inserted.catch(() => undefined)
    try {
      const [made = false] = await inserted
      return made
    } finally {
      one.storing = null
    }
  }

  function forget(one: Kept): void {
    kept.delete(one.document._id)
    one.end.resolve()
  }

  function forgetWaiting(id: string): void {
    const one = kept.get(id)
    if (one !== undefined && waits(one)) forget(one)
  }

  async function work(): Promise<void> {
    while (kept.size > 0) {
      const due = [...kept.values()].filter(isDue)
      const free = due.filter(({ storing }) => storing === null)
      if (free.length > 0) await storeDue(free)
      else if (draining > 0) await Promise.all(due.flatMap(({ storing }) => storing ?? []))
      else await signal.wait(lookEveryMs)
    }
    working = null
  }

  async function storeDue(due: readonly Kept[]): Promise<void> {
    const documents = due.map(({ document }) => document)
    try {
      await Promise.all(due.map((one) => store(one, one.document)))
      await announce(documents)
    } catch (err) {
      logger.warn({ err, deliveries: due.length }, 'deliveries.not-stored')
      if (draining === 0) {
        await delay(retryMs)
        return
      }
      for (const one of due) {
        kept.delete(one.document._id)
        one.end.reject(err)
      }
      return
    }
    for (const one of due) forget(one)
  }

  /** The delivery when nothing is being written of it. */
  async function settled(id: string): Promise<Kept | null> {
    for (let one = kept.get(id); one !== undefined; one = kept.get(id)) {
      if (one.storing === null) return one
      await one.storing
    }
    return null
  }

  function take(claimed: readonly DueDelivery[]): Set<string> {
    const taken = new Set<string>()
    for (const delivery of claimed) {
      const one = kept.get(delivery._id)
      if (one === undefined || !waits(one)) continue
      one.document = { ...delivery, attempts: [] }
      one.dueMs = Math.min(one.dueMs, performance.now() + inFlightMsMax)
      taken.add(delivery._id)
    }
    return taken
  }

  const whenStored = (ids: readonly string[]) => allOf(ids.flatMap((id) => kept.get(id)?.end.promise ?? []))

  /** Those of the endpoint that wait here and not among `known`, in the order of their making. */
  function waitingOf(webhookId: string, known: readonly DueDelivery[]): DueDelivery[] {
    const ids = new Set(known.map(({ _id }) => _id))
    return [...kept.values()]
      .filter((one) => one.document.webhookId === webhookId && waits(one) && !ids.has(one.document._id))
      .map(({ document: { attempts: _, ...due } }) => due)
  }

  async function storeNow(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const one = kept.get(id)
      if (one !== undefined) one.dueMs = 0
    }
    signal.ring()
    await whenStored(ids)
  }

  const covering: Covering = {
    async cancelWaiting(webhookId, ids) {
      await storeNow(ids)
      await stored.cancelWaiting(webhookId, ids)
    },

    async claim(dues, token, now) {
      // Another process, which took this one for dead, has stored those with an attempt behind them.
      const [elsewhere, first] = partition(dues, ({ attemptCount }) => attemptCount > 0)
      for (const { _id } of elsewhere) forgetWaiting(_id)
      const claimed = first.filter(({ _id }) => kept.has(_id)).map((due) => claimedOf({ due, token, now }))
      const taken = take(claimed)
      const others = [...elsewhere, ...first.filter(({ _id }) => !taken.has(_id))]
      await Promise.all(others.flatMap(({ _id }) => kept.get(_id)?.storing ?? []))
      return [
        ...claimed.filter(({ _id }) => taken.has(_id)),
        ...(others.length === 0 ? [] : await stored.claim(others, token, now)),
      ]
    },

    async complete(claimed, fields, attempt) {
      const one = await settled(claimed._id)
      if (one?.document.claimToken === claimed.claimToken) {
        const ended = { ...one.document, ...fields, claimToken: 0, claimedAt: null, attempts: [attempt] }
        const made = await store(one, ended)
        forget(one)
        if (made) return true
      }
      return stored.complete(claimed, fields, attempt)
    },

    async existing(wanted) {
      const here = wanted.filter(({ _id }) => kept.has(_id))
      const found = await stored.existing(wanted)
      for (const { _id } of here) {
        if (!found.has(_id)) found.set(_id, { _id, status: 'PENDING', replayId: null })
      }
      return found
    },

    async statusesOfEvents(eventIds) {
      const ids = new Set(eventIds)
      const here = [...kept.values()].filter(({ document }) => ids.has(document.eventId))
      const found = await stored.statusesOfEvents(eventIds)
      const statuses = here.map(({ document: { _id } }): [string, DeliveryStatus] => [_id, 'PENDING'])
      return new Map([...statuses, ...found])
    },

    async upcoming(webhookId, limit) {
      const { lanes, open } = await stored.upcoming(webhookId, limit)
      if (open.has('fresh')) return { lanes, open }
      const fresh = [...lanes.fresh, ...waitingOf(webhookId, lanes.fresh)]
      if (fresh.length >= limit) open.add('fresh')
      return { lanes: { ...lanes, fresh: fresh.slice(0, limit) }, open }
    },

    async upcomingIn(webhookId, lane, limit) {
      const found = await stored.upcomingIn(webhookId, lane, limit)
      if (found.open || lane !== 'fresh') return found
      const waiting = [...found.waiting, ...waitingOf(webhookId, found.waiting)]
      return { waiting: waiting.slice(0, limit), open: waiting.length >= limit }
    },
  }

  return {
    keep(fresh) {
      const room = kept.size + fresh.length <= keptMax
      const dueMs = room ? performance.now() + waitingMsMax : 0
      const ends = fresh.map((delivery) => {
        const one: Kept = {
          document: newDocument(delivery),
          dueMs,
          storing: null,
          end: Promise.withResolvers(),
        }
        kept.set(delivery._id, one)
        return one.end.promise
      })
      if (kept.size > 0) working ??= work()
      if (!room || draining > 0) signal.ring()
      return allOf(ends)
    },

    take,
    whenStored,

    storeNow,

    async drain() {
      draining += 1
      signal.ring()
      await working
      draining -= 1
    },

    covering,
  }
}

/** Settles with all of them. What fails was logged; a caller who has failed otherwise waits no more. */
function allOf(ends: readonly Promise<void>[]): Promise<void> {
  const all = Promise.all(ends).then(() => undefined)
  all.catch(() => undefined)
  return all
}
