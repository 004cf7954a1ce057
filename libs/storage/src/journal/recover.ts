import type { Logger } from 'pino'
import type { Duties } from './duties.ts'
import { countOnce, type Cursor } from './fold.ts'
import type { InstanceDocument, Instances } from './instances.ts'
import type { Entry, JournalStore } from './journal.ts'
import { streamOf } from './journal-keys.ts'
import type { TakeOvers } from './take-overs.ts'

type Dead = Pick<InstanceDocument, '_id' | 'done'>

const pageSize = 500
const retryMs = 5000
const waitMs = 250
/**
 * When a dead instance is looked at again: soon, since it may have died a moment before it was recovered, and
 * when what it had on the wire has landed.
 */
const furtherScansAfterMs = [5000, 55_000]

/**
 * Takes over what dead instances have left: first the unfinished streams of their entries above `done`, each
 * by its service, then the duties of these entries, and meanwhile the unfinished streams that lists show.
 * What it does twice, or another process does as well, is decided by the entries' numbers and counts once.
 * @param sizeMax entries in memory that are not done; while there are more, no further duties are taken over
 */
export function createRecovery<Fact>({
  store,
  instances,
  duties,
  takeOvers,
  sizeMax,
  pause,
  logger,
}: {
  readonly store: JournalStore<Fact>
  readonly instances: Pick<Instances, 'recovered'>
  readonly duties: Pick<Duties<Fact>, 'add' | 'size'>
  readonly takeOvers: TakeOvers
  readonly sizeMax: number
  readonly pause: (ms: number) => Promise<void>
  readonly logger: Logger
}) {
  let underWay = new Map<string, Promise<void>>()
  const running = new Set<Promise<void>>()
  let generation = 0

  async function recover(dead: Dead, begun: () => void, isOver: () => boolean): Promise<void> {
    const { _id: o, done } = dead
    let left = 0
    const takePage = async (page: Page<Fact>) => {
      const streams = [...new Set(page.map(({ entry }) => streamOf(entry._id)))]
      return (await takeOvers.take(streams, (writer) => writer === o, isOver)).failed
    }
    const dutiesOfPage = async (page: Page<Fact>) => {
      while (duties.size() >= sizeMax && !isOver()) await pause(waitMs)
      if (isOver()) return 0
      for (const { entry, missing } of page) {
        left += 1
        duties.add(entry, () => (left -= 1), missing)
      }
      return 0
    }
    const take = createScan({ store, o, done, each: takePage, isOver })
    const takeDuties = createScan({ store, o, done, each: dutiesOfPage, isOver })
    const takeListed = async () => (await takeOvers.takeListed({ dead: o, isOver })).failed
    async function untilNoneFails(takeSome: () => Promise<number>, first: number): Promise<void> {
      for (let failed = first; failed > 0 && !isOver(); failed = await takeSome()) await pause(retryMs)
    }
    const listAll = async () => untilNoneFails(takeListed, await takeListed())

    let listing: Promise<void> | null = null
    for (const afterMs of [0, ...furtherScansAfterMs]) {
      for (let ms = 0; ms < afterMs && !isOver(); ms += retryMs) await pause(retryMs)
      // Duties and lists do not wait for a stream that cannot be taken over yet.
      const failed = await take()
      begun()
      listing ??= listAll()
      // Awaited below, where its failure ends this recovery.
      listing.catch(() => undefined)
      await Promise.all([untilNoneFails(take, failed), takeDuties()])
      for (let ms = waitMs; left > 0 && !isOver(); ms += waitMs) {
        await pause(waitMs)
        // The duties of what has landed since may wait for somebody to take its stream over.
        if (ms % retryMs === 0) await take()
      }
    }
    await listing
    // What the dead one had on the wire may have been listed until the last scan.
    await listAll()
    if (isOver()) return
    await instances.recovered(o)
    logger.info({ instance: o }, 'journal.recovered')
  }

  return {
    /** Begins to recover a dead instance, unless that is under way. */
    begin(dead: Dead): void {
      if (underWay.has(dead._id)) return
      const own = generation
      const { promise, resolve } = Promise.withResolvers<void>()
      underWay.set(dead._id, promise)
      const ended = recover(dead, resolve, () => own !== generation)
        .catch((err: unknown) => logger.error({ err, instance: dead._id }, 'journal.recovery-failed'))
        .finally(() => {
          resolve()
          if (own === generation) underWay.delete(dead._id)
          running.delete(ended)
        })
      running.add(ended)
    },
    /** Resolves when what those that are being recovered wrote last has been taken over once. */
    async begun(): Promise<void> {
      await Promise.all(underWay.values())
    },
    /** Ends all recoveries; the next beat begins them again. */
    abort(): void {
      generation += 1
      underWay = new Map()
    },
    /** Resolves when recoveries that were ended have finished what they were at. */
    async ended(): Promise<void> {
      await Promise.all(running)
    },
  }
}

/** Entries in order, each with the numbers between it and the entry before under which none stands yet. */
type Page<Fact> = readonly { readonly entry: Entry<Fact>; readonly missing: readonly number[] }[]

/**
 * Makes a scan of all entries of `o` above `done`: each run goes through those that none before has seen,
 * also under lower numbers, in pages.
 * @param each of a page; returns how many of it failed: then the next run goes through the page again
 * @returns the scan, which returns how many failed
 */
function createScan<Fact>({
  store,
  o,
  done,
  each,
  isOver,
}: {
  store: JournalStore<Fact>
  o: string
  done: number
  each: (page: Page<Fact>) => Promise<number>
  isOver: () => boolean
}): () => Promise<number> {
  let seen: Cursor = { q: done, holes: [] }

  return async function scan() {
    let failed = 0
    let before = done
    for (;;) {
      const found = await store.readWritten(o, { after: before, limit: pageSize })
      const gaps = new Map(found.map(({ q }, index) => [q, numbersBetween(found[index - 1]?.q ?? before, q)]))
      const { fresh, cursor } = countOnce(seen, { entries: found, missing: [...gaps.values()].flat() })
      const page = fresh
        .filter(({ f }) => f.length > 0)
        .map((entry) => ({ entry, missing: gaps.get(entry.q) ?? [] }))
      const failedHere = page.length === 0 ? 0 : await each(page)
      if (isOver()) return failed
      failed += failedHere
      // What has failed is as if it had not landed.
      const again = failedHere === 0 ? [] : page.map(({ entry }) => entry.q)
      seen = { q: cursor.q, holes: [...cursor.holes, ...again] }
      before = found.at(-1)?.q ?? before
      if (found.length < pageSize) return failed
    }
  }
}

/** The numbers between two, both exclusive. */
function numbersBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from - 1 }, (_, index) => from + 1 + index)
}
