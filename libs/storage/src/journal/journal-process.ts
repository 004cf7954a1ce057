import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Logger } from 'pino'
import { createDuties, type Duty } from './duties.ts'
import type { Instances, Progress } from './instances.ts'
import {
  type Claim,
  type Entry,
  type Journal,
  type JournalStore,
  type Loaded,
  load,
  reload,
} from './journal.ts'
import { entryNumber, type StreamKey } from './journal-keys.ts'
import type { NewListDocument } from './list-documents.ts'
import { createOwnEntries, type OwnEntries } from './own-entries.ts'
import { createRecovery } from './recover.ts'
import type { EventSender } from './send-events.ts'
import { createTakeOvers, type Unfinished } from './take-overs.ts'

/** What a service does for the entries of its journal. */
export type JournalWork<Fact> = {
  /**
   * Writes the stream's list documents so that they show all of `entries`, which come without events; see
   * `createListDocuments`. A document shows as `o` the writer of the last entry that it shows.
   */
  readonly list: (stream: StreamKey, entries: readonly Entry<Fact>[]) => Promise<void>
  /**
   * What `list` would write, as documents that stand nowhere yet: they go out with the last of these entries,
   * which still has its events.
   * None where a document has to be replaced, or where a later entry makes it another one soon.
   */
  readonly newLists?: (entries: readonly Entry<Fact>[]) => readonly NewListDocument[]
  /**
   * Whether the stream has nothing left to do. False while its last entry is one with claims: those may be
   * missing, and only who takes the stream over inserts them again.
   */
  readonly isFinished: (entries: readonly Entry<Fact>[]) => boolean
  /**
   * Takes over an unfinished stream whose last writer is dead: appends `adopted` by `adopt`, then puts the
   * work into the service's memory. Somebody else may be first, or it may have been taken over already: then
   * there is nothing to do. When it rejects, it is called again some seconds later.
   */
  readonly takeOver: (stream: StreamKey) => Promise<void>
  /** The claims that an entry was written with; needed where entries have any. */
  readonly claimsOf?: (entry: Entry<Fact>) => readonly Claim[]
  /**
   * At most `limit` streams whose list documents are unfinished and show an `o` that is none of `others`. A
   * service whose documents do not say which streams owe something returns all of them for `owed`, too.
   */
  readonly unfinished?: (
    limit: number,
    others: readonly string[],
    which: Unfinished,
  ) => Promise<readonly StreamKey[]>
  /**
   * Drops all unfinished work from the service's memory: others may have judged this process dead, and it
   * goes on as another instance. What is still unfinished comes back by `takeOver`, here or elsewhere.
   */
  readonly forgetWork?: () => void
  /** Further duties of entries; an entry is done when they are, too. */
  readonly duties?: readonly Duty<Fact>[]
}

/** The store, the time and the logger of one process. */
type Surroundings<Fact> = {
  readonly store: JournalStore<Fact>
  readonly instances: Instances
  readonly sender: EventSender<Fact>
  readonly newWrite: () => string
  readonly now: () => Date
  readonly steadyMs: () => number
  readonly after: (ms: number, work: () => void) => void
  readonly wait: (ms: number) => Promise<void>
  /** As `wait`; ends early when the process stops. */
  readonly pause: (ms: number) => Promise<void>
  readonly isStopping: () => boolean
  readonly logger: Logger
}

/** Streams, and entries that are not done, in the memory of one process. */
const memoryMax = 20_000
const waitMs = 20
const againMs = 5000
const formerMax = 10

/**
 * Creates one process's part in a journal: the entries that it writes, their duties, and what it takes over
 * of others. Time, store and sender are the caller's, so that a simulation runs it on its own.
 */
export function createJournalProcess<Fact>({
  store,
  instances,
  sender,
  claimsOf,
  forgetWork = () => undefined,
  ...given
}: JournalWork<Fact> & Surroundings<Fact>) {
  const { newWrite, now, steadyMs, logger } = given
  let own: OwnEntries<Fact> | null = null
  /** Of instances that this process was before, those whose entries may yet turn out to stand. */
  let former: readonly OwnEntries<Fact>[] = []
  let alive: readonly string[] = []
  let unowned = 0
  let isStarted = false
  let takingUnowned: Promise<void> | null = null

  const instance = () => (own !== null && own.o === instances.current() ? own.o : null)
  const journal: Journal<Fact> = {
    store,
    memory: new BoundedMap(memoryMax),
    ...(claimsOf === undefined ? {} : { claims: { of: claimsOf, known: new BoundedMap(memoryMax) } }),
    async nextWriter(untilMs) {
      for (;;) {
        if (own !== null && instance() !== null) return { o: own.o, q: own.next() }
        if (steadyMs() >= untilMs || given.isStopping()) return null
        await given.wait(waitMs)
      }
    },
    instance,
    newLists(stream, entry) {
      const before = knownOf(stream)
      const number = entryNumber(entry._id)
      if (before?.last !== number - 1) return []
      const made = given.newLists?.([...before.entries, entry]) ?? []
      // They are inserted in their order: once the last one stands all do.
      const inserted = () => {
        made.at(-1)?.inserted()
        duties.wasListed(stream, number)
      }
      return made.map((one, at) => (at < made.length - 1 ? one : { ...one, inserted }))
    },
    settled(entry, fate) {
      const writer = entry.o === own?.o ? own : former.find(({ o }) => o === entry.o)
      writer?.settled(entry, fate)
    },
    newWrite,
    now,
    steadyMs,
    pause: given.wait,
  }

  /** A stream as it is remembered, if all of its entries are known to count; null else. */
  function knownOf(stream: StreamKey): Loaded<Fact> | null {
    const known = journal.memory.get(stream)
    return known !== undefined && known.last === known.end ? known : null
  }

  const read = (stream: StreamKey, fromMemory: boolean) =>
    fromMemory ? load(journal, stream) : reload(journal, stream)

  const duties = createDuties<Fact>({
    ...{ read, list: given.list, sender, further: given.duties ?? [] },
    // Of an instance that is dead all are known that will ever be.
    mayCount: (entry) => entry.o !== own?.o || own.knowsBelow(entry),
    isOver(stream) {
      const known = knownOf(stream)
      return known !== null && given.isFinished(known.entries)
    },
    ...{ steadyMs, after: given.after, logger },
  })
  const takeOvers = createTakeOvers<Fact>({
    ...{ instances, duties, read, logger },
    isFinished: given.isFinished,
    takeOver: given.takeOver,
    current: instance,
    unfinished: given.unfinished ?? (async () => []),
    ...{ steadyMs, pause: given.pause },
  })
  const recovery = createRecovery<Fact>({
    ...{ store, instances, duties, takeOvers, pause: given.pause, logger, sizeMax: memoryMax },
  })

  /** Begins a new instance: what the one before had to do is for those who recover it. */
  function begin(o: string): void {
    recovery.abort()
    duties.forget()
    journal.memory.clear()
    if (own !== null) {
      former = [own, ...former].slice(0, formerMax)
      forgetWork()
    }
    const current: OwnEntries<Fact> = createOwnEntries({
      ...{ o, store, duties, steadyMs, capacity: memoryMax },
      blank: (_id) => blankOf(own ?? current, _id),
    })
    own = current
  }

  /** Whether it stands does not matter, so its number counts as done. */
  function blankOf(writer: OwnEntries<Fact>, _id: string): Entry<Fact> {
    const entry = { _id, w: newWrite(), o: writer.o, q: writer.next(), at: now(), f: [] }
    writer.settled(entry, 'taken')
    return entry
  }

  async function beatOnce(): Promise<void> {
    const beaten = await instances.beat((o) =>
      own?.o === o ? own.progress() : { done: 0, last: 0, oldestAt: null },
    )
    if (beaten.instance !== own?.o) {
      if (own !== null) logger.warn({ before: own.o, instance: beaten.instance }, 'journal.instance-changed')
      begin(beaten.instance)
    }
    alive = beaten.alive
    if (isStarted) for (const dead of beaten.toRecover) recovery.begin(dead)
  }

  let beating: Promise<unknown> = Promise.resolve()
  /** Tells the others that this process is alive, and learns who is; one beat at a time. */
  function beat(): Promise<void> {
    const next = beating.then(beatOnce)
    beating = next.catch(() => undefined)
    return next
  }

  /** Begins take-overs. Resolves when what the dead wrote last has been taken over once. */
  async function recover(): Promise<void> {
    isStarted = true
    await beat()
    await recovery.begun()
    takingUnowned = takeUnowned()
  }

  /** Takes over streams whose writer nobody knows any more, as after a restore. Never rejects. */
  async function takeUnowned(): Promise<void> {
    for (let failed = 1; failed > 0 && !given.isStopping(); ) {
      try {
        failed = (await takeOvers.takeListed({ isOver: given.isStopping })).failed
      } catch (err) {
        logger.error({ err }, 'journal.take-over-failed')
      }
      if (failed > 0) await given.pause(againMs)
    }
    takingUnowned = null
  }

  /** Decides the fate of entries that this process has given up, and goes on with what stands. */
  async function closeLost(): Promise<void> {
    if (instance() === null) return
    for (const each of own === null ? former : [own, ...former])
      await takeOvers.take(await each.closeLost(), (writer) => writer === each.o, given.isStopping)
    former = former.filter((each) => each.hasOpen())
  }

  /** Looks for what has no owner though nobody has died: must find nothing. */
  async function watch(): Promise<void> {
    const o = instance()
    if (o === null) return
    const [first] = alive.toSorted()
    if (first !== o || takingUnowned !== null) return
    const { taken } = await takeOvers.takeListed({ isOver: given.isStopping })
    if (taken === 0) return
    unowned += taken
    logger.error({ streams: taken }, 'journal.unowned')
  }

  return {
    journal,
    duties,
    beat,
    recover,
    watch,
    closeLost,
    hasLost: () => [own, ...former].some((each) => each?.hasLost() === true),
    isStarted: () => isStarted,
    refill: async () => own?.refill(),
    hasUnread: () => own?.hasUnread() === true,
    alive: () => alive,
    taking: takeOvers.taking,
    unownedTotal: () => unowned,
    abort: recovery.abort,
    /** Resolves when take-overs, once ended, have finished what they were at. */
    ended: async () => void (await Promise.all([recovery.ended(), takingUnowned])),
    /** What its instance has done; null before the first beat. */
    progress: (): Progress | null => own?.progress() ?? null,
  }
}
