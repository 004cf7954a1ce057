import { earliest, type Lane, lanes } from '../rules/choose-due.ts'
import { type Upcoming, upcomingMax } from '../storage/delivery-queue.ts'
import type { DueDelivery } from '../storage/collections.ts'

/**
 * The stored deliveries that wait for an endpoint as the worker that holds it knows them: by lane, in due
 * order. A lane is open when more wait than are known.
 */
export type WaitingDeliveries = {
  lanes(): Upcoming['lanes']
  openLanes(): ReadonlySet<Lane>
  /** Replaces all of them by what `read` finds, and adds what is put back meanwhile. */
  readAll(read: () => Promise<Upcoming>): Promise<void>
  /** `readAll` for one lane. */
  readLane(lane: Lane, read: () => Promise<{ waiting: DueDelivery[]; open: boolean }>): Promise<void>
  remove(ids: ReadonlySet<string>): void
  /** Adds one that waits since now, or again. */
  putBack(delivery: DueDelivery): void
  /** When the first of the new and repeated deliveries that wait is due; null for none. */
  firstDueAt(): Date | null
}

/** Opens the lanes of an endpoint, which are empty until they are read. */
export function createWaitingDeliveries(): WaitingDeliveries {
  let upcoming: Upcoming = { lanes: { fresh: [], retry: [], replay: [], manual: [] }, open: new Set() }
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
    const waiting = others.toSpliced(next === -1 ? others.length : next, 0, delivery)
    if (waiting.length > upcomingMax) upcoming.open.add(lane)
    upcoming.lanes[lane] = waiting.slice(0, upcomingMax)
  }

  return {
    lanes: () => upcoming.lanes,
    openLanes: () => upcoming.open,

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

    firstDueAt() {
      const { fresh, retry } = upcoming.lanes
      return earliest([...fresh.slice(0, 1), ...retry.slice(0, 1)].map(({ dueAt }) => dueAt))
    },
  }
}
