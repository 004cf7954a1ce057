import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { createSteadyClock } from '@pitboss/runtime/steady-clock'
import type { Clock } from '@pitboss/runtime/clock'
import { type Poll, startPoll } from '@pitboss/runtime/poll'
import { within } from '@pitboss/runtime/within'
import type { Db } from 'mongodb'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { EventPublisher, EventsPosition } from '../sent-events.ts'
import { createDuties, type Duty } from './duties.ts'
import { createInstances, type InstanceDocument, type Instances, instancesOf } from './instances.ts'
import {
  type Claim,
  type Entry,
  type Journal,
  type JournalDocument,
  type JournalStore,
  load,
  reload,
} from './journal.ts'
import type { StreamKey } from './journal-keys.ts'
import { mongodbJournal } from './mongodb-journal.ts'
import { createJournalMetrics } from './journal-metrics.ts'
import { createOwnEntries, type OwnEntries } from './own-entries.ts'
import { createRecovery, createTakeOvers } from './recover.ts'
import { createEventSender } from './send-events.ts'

/*
 * How a service keeps its journal:
 * const running = await openJournal({ db, bus, position, list, isFinished, takeOver, unfinished, … }) await
 * running.start() // once the service can take streams over const changed = await change(running.journal,
 * stream, rules, running.journal.steadyMs() + budgetMs) await running.listed(stream, number) // before the
 * answer
 * - A stream's work belongs to the instance that wrote its last entry, as long as that is alive. The service
 *   has it in memory and acts by appending; another one leaves it alone, also the one that had it before.
 * - Nobody acts on an entry before its append is answered `appended`. `unknown` is no answer to act on: what
 *   stands of it comes back by `takeOver`, here or in another process.
 * - Who goes on with what another instance has begun, such as a call past its `until`, adopts the stream
 *   first.
 * - An entry with claims has no events. Entries come back from memory without their events.
 * - List documents are written by `list` alone, before the events of their entries leave, within 5 s else.
 */

/** What a service gives to its journal. */
export type JournalOptions<Fact> = {
  readonly bus: EventPublisher
  /** `eventsPosition` of the bus. */
  readonly position: (withFirst: boolean) => Promise<EventsPosition>
  readonly clock: Clock
  readonly logger: Logger
  /** The commit or release that runs. */
  readonly build: string
  readonly newId: (prefix: string) => string
  /**
   * Writes the stream's list documents so that they show all of `entries`, which come without events; see
   * `createListDocuments`. A document shows as `o` the writer of the last entry that it shows.
   */
  readonly list: (stream: StreamKey, entries: readonly Entry<Fact>[]) => Promise<void>
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
  /** At most `limit` streams whose list documents are unfinished and show an `o` that is none of `others`. */
  readonly unfinished?: (limit: number, others: readonly string[]) => Promise<readonly StreamKey[]>
  /**
   * Drops all unfinished work from the service's memory: others may have judged this process dead, and it
   * goes on as another instance. What is still unfinished comes back by `takeOver`, here or elsewhere.
   */
  readonly forgetWork?: () => void
  /** Further duties of entries; an entry is done when they are, too. */
  readonly duties?: readonly Duty<Fact>[]
}

/** A service's journal at work. */
export type RunningJournal<Fact> = {
  /** For `append`, `load`, `change` and `adopt`. */
  readonly journal: Journal<Fact>
  /**
   * Begins duties and take-overs; call it when the service can take streams over, before it is ready.
   * Resolves when what is known to be unowned has been taken over once.
   */
  start(): Promise<void>
  /**
   * Resolves when the stream's list document stands at `number` or later; writes it now. To be awaited before
   * an answer that names what the entry shows.
   */
  listed(stream: StreamKey, number: number): Promise<void>
  /** Instances that are alive, by the last beat. */
  alive(): readonly string[]
  /** The instances, for copies in memory (`shareCopies`). */
  readonly instances: Pick<Instances, 'current' | 'readAlive'>
  /**
   * Runs a take-over that somebody waits for. Where it fails, perhaps after its entry, this process repeats
   * the service's own: nobody else takes over what belongs to one that is alive.
   */
  taking<Result>(stream: StreamKey, takeOver: () => Promise<Result>): Promise<Result>
  /**
   * Streams without a living owner that only the watch of every minute has found: 0 unless something is
   * wrong.
   */
  unownedTotal(): number
  /** A clean end, after the last append: others take over at once. */
  stop(): Promise<void>
}

const beatEveryMs = 1000
const watchEveryMs = 60_000
const refillEveryMs = 250
/** Streams, and entries that are not done, in the memory of one process. */
const memoryMax = 20_000
const waitMs = 20
const formerMax = 10
/** What is not done by then at a clean end is left to others. */
const drainMaxMs = 3000

/**
 * Opens a service's journal in collection `name`, with its instances in `<name>_instances`. Declare
 * `journalIndexes` with the former.
 * @throws what the database throws for the first beat
 */
export async function openJournal<Fact>({
  db,
  name = 'journal',
  registry,
  ...options
}: JournalOptions<Fact> & { db: Db; name?: string; registry?: Registry }): Promise<RunningJournal<Fact>> {
  const { build, newId, clock } = options
  const steadyMs = createSteadyClock()
  const collection = db.collection<InstanceDocument>(instancesOf(name))
  const instances = createInstances({
    collection,
    build,
    newInstance: () => newId('ins'),
    now: () => clock.now(),
    steadyMs,
  })
  const isCurrent = (o: string) => instances.current() === o
  const store = mongodbJournal<Fact>(db.collection<JournalDocument<Fact>>(name), { isCurrent, steadyMs })
  const running = await runJournal({ ...options, store, instances, steadyMs })
  if (registry !== undefined)
    createJournalMetrics({ registry, instances: collection, unownedTotal: running.unownedTotal, clock })
  return running
}

/** Runs a journal over any store. */
async function runJournal<Fact>({
  store,
  instances,
  steadyMs,
  clock,
  logger,
  forgetWork = () => undefined,
  claimsOf,
  ...options
}: JournalOptions<Fact> & {
  store: JournalStore<Fact>
  instances: Instances
  steadyMs: () => number
}): Promise<RunningJournal<Fact>> {
  const now = () => clock.now()
  const newWrite = () => randomBytes(8).toString('hex')
  const stopping = new AbortController()
  const pause = (ms: number) =>
    delay(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
  let own: OwnEntries<Fact> | null = null
  /** Of instances that this process was before, those whose entries may yet turn out to stand. */
  let former: readonly OwnEntries<Fact>[] = []
  let alive: readonly string[] = []
  let unowned = 0
  let isStarted = false

  const instance = () => (own !== null && own.o === instances.current() ? own.o : null)
  const journal: Journal<Fact> = {
    store,
    memory: new BoundedMap(memoryMax),
    ...(claimsOf === undefined ? {} : { claims: { of: claimsOf, known: new BoundedMap(memoryMax) } }),
    async nextWriter(untilMs) {
      for (;;) {
        if (own !== null && instance() !== null) return { o: own.o, q: own.next() }
        if (steadyMs() >= untilMs || stopping.signal.aborted) return null
        await delay(waitMs)
      }
    },
    instance,
    settled(entry, fate) {
      const writer = entry.o === own?.o ? own : former.find(({ o }) => o === entry.o)
      writer?.settled(entry, fate)
    },
    newWrite,
    now,
    steadyMs,
    pause: (ms) => delay(ms),
  }

  const read = (stream: StreamKey, fromMemory: boolean) =>
    fromMemory ? load(journal, stream) : reload(journal, stream)

  const duties = createDuties<Fact>({
    read,
    list: options.list,
    sender: createEventSender({ bus: options.bus, position: options.position, logger }),
    further: options.duties ?? [],
    // Of an instance that is dead all are known that will ever be.
    mayCount: (entry) => entry.o !== own?.o || own.knowsBelow(entry),
    steadyMs,
    after: (ms, work) => void setTimeout(work, ms).unref(),
    logger,
  })
  const takeOvers = createTakeOvers<Fact>({
    ...{ instances, duties, read, logger },
    isFinished: options.isFinished,
    takeOver: options.takeOver,
    current: instance,
    unfinished: options.unfinished ?? (async () => []),
  })
  const recovery = createRecovery<Fact>({
    ...{ store, instances, duties, takeOvers, pause, logger, sizeMax: memoryMax },
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
  /** One beat at a time. */
  function beat(): Promise<void> {
    const next = beating.then(beatOnce)
    beating = next.catch(() => undefined)
    return next
  }

  /** Looks for what has no owner though nobody has died: must find nothing. */
  async function watch(): Promise<void> {
    const o = instance()
    if (o === null) return
    for (const each of own === null ? former : [own, ...former])
      await takeOvers.take(await each.closeLost(), (writer) => writer === each.o)
    former = former.filter((each) => each.hasOpen())
    const [first] = alive.toSorted()
    if (first !== o) return
    const { taken } = await takeOvers.takeListed()
    if (taken === 0) return
    unowned += taken
    logger.error({ streams: taken }, 'journal.unowned')
  }

  await beat()
  const polls: Poll[] = [
    startPoll({
      event: 'journal.beat-failed',
      everyMs: beatEveryMs,
      work: beat,
      ...{ logger, level: 'warn' },
    }),
  ]
  let stopDuties = async (): Promise<void> => undefined

  return {
    journal,
    async start() {
      stopDuties = duties.start()
      isStarted = true
      const refill = async () => own?.refill()
      polls.push(startPoll({ event: 'journal.refill-failed', everyMs: refillEveryMs, work: refill, logger }))
      await beat()
      await recovery.begun()
      await takeOvers.takeListed()
      polls.push(startWatch(watch, logger))
    },
    listed: (stream, number) => duties.listed(stream, number),
    alive: () => alive,
    instances,
    taking: takeOvers.taking,
    unownedTotal: () => unowned,
    async stop() {
      const untilMs = steadyMs() + drainMaxMs
      await within(duties.listAll(), drainMaxMs)
      while (isStarted && duties.size() > 0 && steadyMs() < untilMs) await delay(waitMs)
      stopping.abort()
      recovery.abort()
      await Promise.all(polls.map((poll) => poll.stop()))
      await stopDuties()
      if (own === null) return
      // Without it others judge this instance seconds later.
      const left = instances.leave(own.progress())
      await left.catch((err: unknown) => logger.warn({ err }, 'journal.leave-failed'))
    },
  }
}

/** The first run comes after a minute. */
function startWatch(watch: () => Promise<void>, logger: Logger): Poll {
  let isFirst = true
  return startPoll({
    event: 'journal.watch-failed',
    everyMs: watchEveryMs,
    async work() {
      if (!isFirst) await watch()
      isFirst = false
    },
    logger,
  })
}
