import type { Duties } from './duties.ts'
import type { Progress } from './instances.ts'
import type { Entry, Fate, JournalDocument, JournalStore } from './journal.ts'
import { streamOf, type StreamKey } from './journal-keys.ts'

export type OwnEntries<Fact> = ReturnType<typeof createOwnEntries<Fact>>

/** An entry of unknown fate. */
type Lost = { readonly id: string; readonly w: string; readonly sinceMs: number }

/** What comes of it in a moment by itself needs no write of ours. */
const lookedForAfterMs = 2000
const closedWithinMs = 10_000
const pageSize = 1000
const closedAtOnce = 100

/**
 * The entries that one instance writes, by running number: which are done, which stand, and which may land
 * yet. A number counts as done when its entry's duties are, or when it can never stand.
 * @param capacity entries in memory that are not done; further ones are read again when there is room
 */
export function createOwnEntries<Fact>({
  o,
  store,
  duties,
  capacity,
  blank,
  steadyMs,
}: {
  o: string
  store: JournalStore<Fact>
  duties: Pick<Duties<Fact>, 'add'>
  capacity: number
  /** An entry without facts by the instance that this process is now, whose fate does not matter. */
  blank: (id: string) => Entry<Fact>
  steadyMs: () => number
}) {
  let last = 0
  /** Numbers whose fate is not known, in order; null while their append is under way. */
  const open = new Map<number, Lost | null>()
  const undone = new Map<number, Date>()
  /** Entries from this number on are not in memory. */
  let unreadFrom: number | null = null
  let isRefilling = false

  /** Returns the next running number. */
  function next(): number {
    last += 1
    open.set(last, null)
    return last
  }

  function settled(entry: Entry<Fact>, fate: Fate): void {
    const { _id: id, w, q } = entry
    if (fate === 'unknown') return void open.set(q, { id, w, sinceMs: steadyMs() })
    open.delete(q)
    // An entry that only closes a number brings no duties.
    if (fate === 'taken' || entry.f.length === 0) return
    if (unreadFrom === null && undone.size >= capacity) unreadFrom = last + 1
    if (unreadFrom === null || q < unreadFrom || isRefilling) take(entry)
  }

  function take(entry: Entry<Fact>): void {
    if (undone.has(entry.q)) return
    undone.set(entry.q, entry.at)
    duties.add(entry, () => undone.delete(entry.q))
  }

  return {
    o,
    next,
    settled,
    /** Whether the fate of all entries below this one is known. */
    knowsBelow({ q }: Entry<Fact>): boolean {
      const [first = Number.POSITIVE_INFINITY] = open.keys()
      return q < first
    },
    progress(): Progress {
      const [firstOpen = Number.POSITIVE_INFINITY] = open.keys()
      let oldest = Math.min(firstOpen, unreadFrom ?? Number.POSITIVE_INFINITY)
      let oldestAt: Date | null = null
      for (const [q, at] of undone) {
        oldest = Math.min(oldest, q)
        if (oldestAt === null || at < oldestAt) oldestAt = at
      }
      return { done: Math.min(last, oldest - 1), last, oldestAt }
    },
    /** Takes entries into memory that had no place there. */
    async refill(): Promise<void> {
      if (unreadFrom === null || undone.size > capacity / 2) return
      const lastBefore = last
      isRefilling = true
      try {
        const page = await store.readWritten(o, { after: unreadFrom - 1, limit: pageSize })
        for (const entry of page) {
          if (!open.has(entry.q) && entry.f.length > 0) take(entry)
        }
        if (page.length < pageSize) unreadFrom = undone.size < capacity ? null : lastBefore + 1
        else unreadFrom = (page.at(-1)?.q ?? unreadFrom) + 1
      } finally {
        isRefilling = false
      }
    },
    /** Whether some had no place there. */
    hasUnread: () => unreadFrom !== null,
    /** Whether the fate of some entries is not known. */
    hasOpen: () => open.size > 0,
    /** Whether the appenders of some of them have given up. */
    hasLost: () => [...open.values()].some((lost) => lost !== null),
    /** Closes the numbers of entries of unknown fate that do not stand. @returns the streams of all */
    async closeLost(): Promise<readonly StreamKey[]> {
      const untilMs = steadyMs() - lookedForAfterMs
      const lost = [...open]
        .flatMap(([q, each]) => (each !== null && each.sinceMs <= untilMs ? [{ q, ...each }] : []))
        .slice(0, closedAtOnce)
      if (lost.length === 0) return []
      const landed = await store.insert(
        lost.map(({ id }) => blank(id)),
        steadyMs() + closedWithinMs,
      )
      if (landed === 'unknown') return []
      const present = await store.read(
        lost.filter((_, index) => landed[index] === 'present').map(({ id }) => id),
      )
      const standing = new Map(present.map((each) => [each._id, each]))
      for (const [index, { q, id, w }] of lost.entries()) {
        const other = standing.get(id)
        if (other === undefined && landed[index] === 'present') continue
        open.delete(q)
        if (other !== undefined && isEntry(other) && other.w === w) take(other)
      }
      return [...new Set(lost.map(({ id }) => streamOf(id)))]
    },
  }
}

function isEntry<Fact>(document: JournalDocument<Fact>): document is Entry<Fact> {
  return 'f' in document
}
