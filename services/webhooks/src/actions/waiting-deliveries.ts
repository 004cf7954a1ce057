import { earliest, type Lane, lanes } from '../rules/choose-due.ts'
import { type Upcoming, upcomingMax } from '../storage/delivery-store.ts'
import type { DueDelivery } from '../storage/collections.ts'

/** The stored deliveries that wait, by lane, in due order. A lane is open when more wait than are known. */
export function createWaitingDeliveries() {
  let upcoming: Upcoming = { lanes: { fresh: [], retry: [], replay: [], manual: [] }, open: new Set() }
  /** What is put back while the database is read; null while it is not. */
  let meanwhile: DueDelivery[] | null = null

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
    lanes: (): Upcoming['lanes'] => upcoming.lanes,

    /** Whether fewer are known of an open lane than `enough` of it. */
    runLow: (enough: (lane: Lane) => number): boolean =>
      [...upcoming.open].some((lane) => upcoming.lanes[lane].length < enough(lane)),

    /** Replaces all of them by what `read` finds, and adds what is put back meanwhile. */
    async readAll(read: () => Promise<Upcoming>): Promise<void> {
      const added: DueDelivery[] = []
      meanwhile = added
      try {
        upcoming = await read()
      } finally {
        meanwhile = null
      }
      for (const delivery of added) addInOrder(delivery)
    },

    remove(ids: ReadonlySet<string>): void {
      for (const lane of lanes) upcoming.lanes[lane] = upcoming.lanes[lane].filter(({ _id }) => !ids.has(_id))
    },

    /** Adds one that waits since now, or again. */
    putBack(delivery: DueDelivery): void {
      meanwhile?.push(delivery)
      addInOrder(delivery)
    },

    /** When the first of the new and repeated deliveries that wait is due; null for none. */
    firstDueAt(): Date | null {
      const { fresh, retry } = upcoming.lanes
      return earliest([fresh[0]?.dueAt, retry[0]?.dueAt])
    },
  }
}
