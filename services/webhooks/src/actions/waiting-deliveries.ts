import type { FreshDelivery } from '../clients/notify-workers.ts'
import { earliest, type Lane, lanes } from '../rules/choose-due.ts'
import { type Upcoming, upcomingMax } from '../storage/delivery-queue.ts'
import { newDocument } from '../storage/new-delivery.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'

/**
 * The waiting deliveries of an endpoint as the worker that holds it knows them: by lane, in due order, and
 * those that were offered since. A lane is open when more wait than are known.
 */
export type WaitingDeliveries = {
  lanes(): Upcoming['lanes']
  openLanes(): ReadonlySet<Lane>
  /** Adds those that were just created. @returns false when they are too many: then the database is read */
  offer(fresh: readonly FreshDelivery[]): boolean
  hasOffers(): boolean
  /**
   * Moves what was offered to the waiting ones; not behind a longer backlog, from which it is read in due
   * order.
   */
  merge(): void
  /** Replaces all of them by what `read` finds, and adds what is put back meanwhile. */
  readAll(read: () => Promise<Upcoming>): Promise<void>
  /** `readAll` for one lane. */
  readLane(lane: Lane, read: () => Promise<{ waiting: DueDelivery[]; open: boolean }>): Promise<void>
  remove(ids: ReadonlySet<string>): void
  /** Adds one that was in flight and waits again. */
  putBack(delivery: DueDelivery): void
  /** The first of the new deliveries that wait, in due order; null for none. */
  firstNew(): Pick<DueDelivery, 'dueAt' | 'createdAt'> | null
  /** When the first of the new and repeated deliveries that wait is due; null for none. */
  firstDueAt(): Date | null
  /** How many wait and are due, as far as they are known. */
  dueCount(now: Date): number
  isEmpty(): boolean
}

/** @param inFlight deliveries that this worker has claimed, by id */
export function createWaitingDeliveries(
  { _id: webhookId, operatorId, environment }: Pick<EndpointDocument, '_id' | 'operatorId' | 'environment'>,
  first: Upcoming | null,
  inFlight: ReadonlyMap<string, unknown>,
): WaitingDeliveries {
  let upcoming: Upcoming = first ?? {
    lanes: { fresh: [], retry: [], replay: [], manual: [] },
    open: new Set(),
  }
  /** By id: one that was handed over may be told of again once it is stored. */
  const offered = new Map<string, FreshDelivery>()
  /** What is put back while the database is read; null while it is not. */
  let meanwhile: DueDelivery[] | null = null

  async function reading(read: () => Promise<void>): Promise<void> {
    const added: DueDelivery[] = []
    meanwhile = added
    try {
      await read()
    } finally {
      meanwhile = null
    }
    for (const delivery of added) addInOrder(delivery)
  }

  function addInOrder(delivery: DueDelivery): void {
    const { lane } = delivery
    const others = upcoming.lanes[lane].filter(({ _id }) => _id !== delivery._id)
    const next = others.findIndex(({ dueAt }) => dueAt > delivery.dueAt)
    // What comes after all that is known of an open lane is read when its turn comes.
    if (next === -1 && upcoming.open.has(lane)) return
    setLane(lane, others.toSpliced(next === -1 ? others.length : next, 0, delivery))
  }

  function setLane(lane: Lane, waiting: readonly DueDelivery[]): void {
    if (waiting.length > upcomingMax) upcoming.open.add(lane)
    upcoming.lanes[lane] = waiting.slice(0, upcomingMax)
  }

  function merge(): void {
    const fresh = [...offered.values()]
    offered.clear()
    if (fresh.length === 0 || upcoming.open.has('fresh')) return
    const known = new Set(Object.values(upcoming.lanes).flatMap((lane) => lane.map(({ _id }) => _id)))
    const added = fresh
      .filter(({ _id }) => !known.has(_id) && !inFlight.has(_id))
      .map(({ _id, eventId, eventType, createdAtMs, traceparent }) => {
        const trace = traceparent === undefined ? {} : { traceparent }
        const ids = { _id, operatorId, environment, webhookId, eventId, ...trace }
        const createdAt = new Date(createdAtMs)
        const { attempts: _, ...due } = newDocument({ ...ids, eventType, lane: 'fresh', createdAt })
        return due
      })
    setLane('fresh', [...upcoming.lanes.fresh, ...added])
  }

  return {
    lanes: () => upcoming.lanes,
    openLanes: () => upcoming.open,
    hasOffers: () => offered.size > 0,
    merge,

    offer(fresh) {
      // Behind a longer backlog they are read when their turn comes; a read under way may not see them.
      if (meanwhile === null && upcoming.open.has('fresh')) return true
      for (const one of fresh) offered.set(one._id, one)
      if (offered.size <= upcomingMax) return true
      if (meanwhile === null) merge()
      else offered.clear()
      return false
    },

    readAll: (read) =>
      reading(async () => {
        upcoming = await read()
      }),

    readLane: (lane, read) =>
      reading(async () => {
        const { waiting, open } = await read()
        upcoming.lanes[lane] = waiting
        if (!open) upcoming.open.delete(lane)
      }),

    remove(ids) {
      for (const lane of lanes) upcoming.lanes[lane] = upcoming.lanes[lane].filter(({ _id }) => !ids.has(_id))
    },

    putBack(delivery) {
      meanwhile?.push(delivery)
      addInOrder(delivery)
    },

    firstNew() {
      const [known] = upcoming.lanes.fresh
      const [next] = offered.values()
      if (known !== undefined) return known
      if (next === undefined) return null
      const createdAt = new Date(next.createdAtMs)
      return { dueAt: createdAt, createdAt }
    },

    firstDueAt() {
      const [next] = offered.values()
      const offeredAt = next === undefined ? [] : [new Date(next.createdAtMs)]
      const { fresh, retry } = upcoming.lanes
      const firsts = [...fresh.slice(0, 1), ...retry.slice(0, 1)]
      return earliest([...offeredAt, ...firsts.map(({ dueAt }) => dueAt)])
    },

    dueCount: (now) =>
      lanes.reduce(
        (count, lane) => count + upcoming.lanes[lane].filter(({ dueAt }) => dueAt <= now).length,
        offered.size,
      ),

    isEmpty: () => lanes.every((lane) => upcoming.lanes[lane].length === 0),
  }
}
