import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { Logger } from 'pino'
import type { Duties } from './duties.ts'
import type { InstanceDocument, Instances } from './instances.ts'
import type { Entry, JournalStore, Loaded } from './journal.ts'
import { streamOf, type StreamKey } from './journal-keys.ts'

export type Recovery = {
  /** Begins to recover a dead instance, unless that is under way. */
  begin(dead: Pick<InstanceDocument, '_id' | 'done'>): void
  /** Resolves when the entries of those that are being recovered have been read once. */
  begun(): Promise<void>
  /** Takes these streams over where they are unfinished and `isDead` is true of their last writer. */
  takeOver(streams: readonly StreamKey[], isDead: (o: string) => boolean): Promise<void>
  /**
   * Takes over unfinished streams whose list documents show a writer that nobody recovers.
   * @returns how many there were
   */
  takeUnowned(): Promise<number>
  /** Ends all recoveries; the next beat begins them again. */
  abort(): void
}

const pageSize = 500
const unownedPerRead = 200
const atOnce = 16
const retryMs = 5000
const waitMs = 250
/** What a dead instance had on the wire lands by then. */
const secondScanMs = 60_000

/**
 * Takes over what dead instances have left: unfinished streams first, each by its service, then the duties of
 * all their entries above `done`. Whatever it does twice, or another process does as well, is decided by the
 * entries' numbers and counts once.
 */
export function createRecovery<Fact>({
  store,
  instances,
  duties,
  read,
  isFinished,
  takeOver,
  unfinished,
  sizeMax,
  pause,
  logger,
}: {
  store: JournalStore<Fact>
  instances: Pick<Instances, 'readKnown' | 'recovered'>
  duties: Duties<Fact>
  /** @param fromMemory false reads past the memory */
  read: (stream: StreamKey, fromMemory: boolean) => Promise<Loaded<Fact>>
  isFinished: (entries: readonly Entry<Fact>[]) => boolean
  takeOver: (stream: StreamKey) => Promise<void>
  unfinished: (limit: number, others: readonly string[]) => Promise<readonly StreamKey[]>
  /** Entries in memory that are not done; while there are more, no further ones are read. */
  sizeMax: number
  pause: (ms: number) => Promise<void>
  logger: Logger
}): Recovery {
  let underWay = new Map<string, Promise<void>>()
  let generation = 0

  /** Takes a stream over if it is unfinished and its last writer is dead. */
  async function takeOne(stream: StreamKey, isDead: (o: string) => boolean): Promise<boolean> {
    const { entries } = await read(stream, false)
    const last = entries.at(-1)
    if (last === undefined || isFinished(entries) || !isDead(last.o)) return false
    await takeOver(stream)
    return true
  }

  /** As `takeOne`, of many streams. @returns how many it took, and those that failed, each of which is logged */
  async function takeMany(
    streams: readonly StreamKey[],
    isDead: (o: string) => boolean,
  ): Promise<{ readonly count: number; readonly failed: ReadonlySet<StreamKey> }> {
    const failed = new Set<StreamKey>()
    let count = 0
    await mapBounded(streams, atOnce, async (stream) => {
      try {
        if (await takeOne(stream, isDead)) count += 1
      } catch (err) {
        failed.add(stream)
        logger.error({ err, stream }, 'journal.take-over-failed')
      }
    })
    return { count, failed }
  }

  async function recover(
    { _id: o, done }: Pick<InstanceDocument, '_id' | 'done'>,
    begun: () => void,
    isOver: () => boolean,
  ): Promise<void> {
    const seen = new Set<number>()
    let left = 0

    /** Reads all entries above `done`. @returns how many streams could not be taken over */
    async function scan(): Promise<number> {
      let failures = 0
      let before = done
      for (let after = done; !isOver(); ) {
        const page = await store.readWritten(o, { after, limit: pageSize })
        const fresh = page.filter(({ q, f }) => !seen.has(q) && f.length > 0)
        const streams = [...new Set(fresh.map(({ _id }) => streamOf(_id)))]
        const { failed } = await takeMany(streams, (writer) => writer === o)
        failures += failed.size
        if (isOver()) break
        for (const entry of page) {
          // One that cannot be taken over yet counts as missing, as one does that has not landed.
          if (failed.has(streamOf(entry._id))) continue
          const missing = numbersBetween(before, entry.q).filter((q) => !seen.has(q))
          before = entry.q
          if (seen.has(entry.q)) continue
          seen.add(entry.q)
          if (entry.f.length === 0) continue
          left += 1
          duties.add(entry, () => (left -= 1), missing)
        }
        if (page.length < pageSize) break
        after = page.at(-1)?.q ?? after
        while (duties.size() >= sizeMax && !isOver()) await pause(waitMs)
      }
      return failures
    }

    async function scanUntilDone(): Promise<void> {
      for (;;) {
        const failures = await scan().catch((err: unknown) => {
          logger.warn({ err, instance: o }, 'journal.recovery-failed')
          return 1
        })
        begun()
        if (isOver() || failures === 0) break
        await pause(retryMs)
      }
      while (left > 0 && !isOver()) await pause(waitMs)
    }

    await scanUntilDone()
    await takeListed((known) => known.filter((each) => each !== o))
    for (let waitedMs = 0; waitedMs < secondScanMs && !isOver(); waitedMs += retryMs) await pause(retryMs)
    await scanUntilDone()
    if (isOver()) return
    await instances.recovered(o)
    logger.info({ instance: o, entries: seen.size }, 'journal.recovered')
  }

  /**
   * Takes over what list documents show as unfinished and not written by `others`, and lists it at once, so
   * that they show who has it now.
   * @param others of the instances that have a document, those that are left out
   */
  async function takeListed(others: (known: readonly string[]) => readonly string[]): Promise<number> {
    const seen = new Set<StreamKey>()
    let taken = 0
    for (;;) {
      const streams = await unfinished(unownedPerRead, others(await instances.readKnown()))
      const fresh = streams.filter((stream) => !seen.has(stream))
      if (fresh.length === 0) return taken
      // An instance has its document before its first entry, so whoever has written one is known by now.
      const known = new Set(others(await instances.readKnown()))
      const { failed, count } = await takeMany(fresh, (o) => !known.has(o))
      taken += count
      for (const stream of fresh) {
        seen.add(stream)
        if (failed.has(stream)) continue
        const { last } = await read(stream, true)
        if (last > 0) await duties.listed(stream, last)
      }
      if (streams.length < unownedPerRead) return taken
    }
  }

  return {
    begin(dead) {
      if (underWay.has(dead._id)) return
      const own = generation
      const { promise, resolve } = Promise.withResolvers<void>()
      underWay.set(dead._id, promise)
      recover(dead, resolve, () => own !== generation)
        .catch((err: unknown) => logger.error({ err, instance: dead._id }, 'journal.recovery-failed'))
        .finally(() => {
          resolve()
          if (own === generation) underWay.delete(dead._id)
        })
    },
    async begun() {
      await Promise.all(underWay.values())
    },
    async takeOver(streams, isDead) {
      await takeMany(streams, isDead)
    },
    takeUnowned: () => takeListed((known) => known),
    abort() {
      generation += 1
      underWay = new Map()
    },
  }
}

/** The numbers between two, both exclusive. */
function numbersBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from - 1 }, (_, index) => from + 1 + index)
}
