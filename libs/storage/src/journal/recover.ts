import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { Logger } from 'pino'
import type { Duties } from './duties.ts'
import { countOnce, type Cursor } from './fold.ts'
import type { InstanceDocument, Instances } from './instances.ts'
import type { Entry, JournalStore, Loaded } from './journal.ts'
import { entryNumber, streamOf, type StreamKey } from './journal-keys.ts'

/** Unfinished streams that owe something, or all, also those that wait for somebody. */
export type Unfinished = 'owed' | 'all'

/** What take-overs need of the journal and of its service. */
type Parts<Fact> = {
  readonly store: JournalStore<Fact>
  readonly instances: Pick<Instances, 'readKnown' | 'recovered'>
  readonly duties: Duties<Fact>
  /** @param fromMemory false reads past the memory */
  readonly read: (stream: StreamKey, fromMemory: boolean) => Promise<Loaded<Fact>>
  readonly isFinished: (entries: readonly Entry<Fact>[]) => boolean
  readonly takeOver: (stream: StreamKey) => Promise<void>
  /** The instance that this process is; null while it may count as dead. */
  readonly current: () => string | null
  readonly unfinished: (
    limit: number,
    others: readonly string[],
    which: Unfinished,
  ) => Promise<readonly StreamKey[]>
  readonly steadyMs: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly logger: Logger
}

export type TakeOvers = ReturnType<typeof createTakeOvers>

const listedPerRead = 200
const atOnce = 16
/** After this many of the listed streams each further group is followed by a rest, so many times as long. */
const listedWithoutRest = 200
const restPerWork = 3

export function createTakeOvers<Fact>({
  instances,
  duties,
  read,
  isFinished,
  takeOver,
  current,
  unfinished,
  steadyMs,
  pause,
  logger,
}: Omit<Parts<Fact>, 'store'>) {
  /** Streams that this process has begun to take over, perhaps as their last writer, and has failed at. */
  const begun = new Map<StreamKey, symbol>()

  /** @returns whether it was to be taken over */
  async function takeOne(
    stream: StreamKey,
    isDead: (o: string) => boolean | Promise<boolean>,
  ): Promise<boolean> {
    const { entries, unclaimed } = await read(stream, false)
    const [last] = [...entries, ...unclaimed].sort((a, b) => entryNumber(b._id) - entryNumber(a._id))
    const isOver = last === undefined || (unclaimed.length === 0 && isFinished(entries))
    const isToTake = !isOver && ((await isDead(last.o)) || (begun.has(stream) && last.o === current()))
    if (isToTake) await taking(stream, () => takeOver(stream))
    // Another look that leaves the stream says nothing of a take-over that fails meanwhile.
    if (isOver) begun.delete(stream)
    return isToTake
  }

  /** Runs a take-over that somebody waits for. Where it fails, `take` repeats what it has begun. */
  async function taking<Result>(stream: StreamKey, takeOver: () => Promise<Result>): Promise<Result> {
    const own = Symbol(stream)
    begun.set(stream, own)
    const result = await takeOver()
    // One that began later and has failed is repeated.
    if (begun.get(stream) === own) begun.delete(stream)
    return result
  }

  async function takeAll(
    streams: readonly StreamKey[],
    one: (stream: StreamKey) => Promise<boolean>,
  ): Promise<{ readonly taken: number; readonly failed: number }> {
    let [taken, failed] = [0, 0]
    await mapBounded(streams, atOnce, async (stream) => {
      try {
        if (await one(stream)) taken += 1
      } catch (err) {
        failed += 1
        logger.error({ err, stream }, 'journal.take-over-failed')
      }
    })
    return { taken, failed }
  }

  return {
    taking,
    /**
     * Takes streams over, where they are unfinished and `isDead` is true of their last writer.
     * @returns how many it took, and those that failed, each of which is logged
     */
    take: (streams: readonly StreamKey[], isDead: (o: string) => boolean) =>
      takeAll([...new Set([...streams, ...begun.keys()])], (stream) => takeOne(stream, isDead)),
    /**
     * As `take`, of the streams whose list documents show as writer an instance that is gone or is `dead`.
     * Lists them at once, so that the documents show who has them now. There may be very many, and requests
     * go first: after 200 they take a quarter of the time, those that owe something before those that wait.
     */
    async takeListed({
      dead,
      isOver,
    }: {
      dead?: string
      isOver: () => boolean
    }): Promise<{ readonly taken: number; readonly failed: number }> {
      const seen = new Set<StreamKey>()
      let [taken, failed] = [0, 0]
      const others = async () => (await instances.readKnown()).filter((o) => o !== dead)
      // An instance has its document before its first entry: one that has written is known when asked after.
      const isDead = async (o: string) => o === dead || !(await instances.readKnown()).includes(o)
      const takeGroup = async (group: readonly StreamKey[]) => {
        const some = await takeAll(group, async (stream) => {
          seen.add(stream)
          const isTaken = await takeOne(stream, isDead)
          const { last } = await read(stream, true)
          if (last > 0) await duties.listed(stream, last)
          return isTaken
        })
        taken += some.taken
        failed += some.failed
      }
      for (const which of ['owed', 'all'] as const) {
        for (let isMore = true; isMore && !isOver(); ) {
          const streams = await unfinished(listedPerRead, await others(), which)
          const fresh = streams.filter((stream) => !seen.has(stream))
          for (let at = 0; at < fresh.length && !isOver(); at += atOnce) {
            const beganMs = steadyMs()
            await takeGroup(fresh.slice(at, at + atOnce))
            if (seen.size > listedWithoutRest) await pause(restPerWork * (steadyMs() - beganMs))
          }
          isMore = fresh.length > 0 && streams.length === listedPerRead
        }
      }
      return { taken, failed }
    },
  }
}

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
}: Pick<Parts<Fact>, 'store' | 'instances' | 'duties' | 'logger'> & {
  takeOvers: TakeOvers
  sizeMax: number
  pause: (ms: number) => Promise<void>
}) {
  let underWay = new Map<string, Promise<void>>()
  const running = new Set<Promise<void>>()
  let generation = 0

  async function recover(dead: Dead, begun: () => void, isOver: () => boolean): Promise<void> {
    const { _id: o, done } = dead
    let left = 0
    const takePage = async (page: Page<Fact>) => {
      const streams = [...new Set(page.map(({ entry }) => streamOf(entry._id)))]
      return (await takeOvers.take(streams, (writer) => writer === o)).failed
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
