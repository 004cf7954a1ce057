import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { createDuties } from '@pitboss/storage/journal/duties'
import type { Instances } from '@pitboss/storage/journal/instances'
import { type Entry, type Journal, type JournalStore, load, reload } from '@pitboss/storage/journal/journal'
import type { StreamKey } from '@pitboss/storage/journal/journal-keys'
import type { JournalOptions, RunningJournal } from '@pitboss/storage/journal/open-journal'
import { createOwnEntries, type OwnEntries } from '@pitboss/storage/journal/own-entries'
import { createRecovery, createTakeOvers } from '@pitboss/storage/journal/recover'
import type { EventSender } from '@pitboss/storage/journal/send-events'
import { pino } from 'pino'
import { isExpected } from './is-expected.ts'
import type { Machine } from './machine.ts'
import type { World } from './world.ts'

/** The part of a running journal that services need of the model. */
export type ModelRunning<Fact> = Pick<
  RunningJournal<Fact>,
  'journal' | 'listed' | 'alive' | 'taking' | 'start'
>

const memoryMax = 20_000
const beatEveryMs = 1000
const listEveryMs = 4000
const watchEveryMs = 60_000
const waitMs = 20
const againMs = 1000

/**
 * Runs the library's journal on a machine of the model as `openJournal` does on a database: its beats,
 * recovery, own entries and duties, each by virtual time.
 */
export function runModelJournal<Fact>(
  machine: Machine,
  {
    timeline,
    stream,
    newId,
    onError,
    mistake,
  }: Pick<World, 'timeline' | 'stream' | 'newId' | 'onError' | 'mistake'>,
  {
    store,
    instances,
    options,
  }: {
    store: JournalStore<Fact>
    instances: Instances
    options: Pick<
      JournalOptions<Fact>,
      'list' | 'isFinished' | 'takeOver' | 'claimsOf' | 'unfinished' | 'forgetWork' | 'duties'
    >
  },
): ModelRunning<Fact> {
  const steadyMs = timeline.nowMs
  const newWrite = () => newId('w')
  const logger = reporting(onError)
  let own: OwnEntries<Fact> | null = null
  let former: readonly OwnEntries<Fact>[] = []
  let alive: readonly string[] = []

  const instance = () => (own !== null && own.o === instances.current() ? own.o : null)
  const journal: Journal<Fact> = {
    store,
    memory: new BoundedMap(memoryMax),
    ...(options.claimsOf === undefined
      ? {}
      : { claims: { of: options.claimsOf, known: new BoundedMap(memoryMax) } }),
    async nextWriter(untilMs) {
      for (;;) {
        if (own !== null && instance() !== null) return { o: own.o, q: own.next() }
        if (steadyMs() >= untilMs) return null
        await machine.wait(waitMs)
      }
    },
    instance,
    settled(entry, fate) {
      const writer = entry.o === own?.o ? own : former.find(({ o }) => o === entry.o)
      writer?.settled(entry, fate)
    },
    newWrite,
    now: machine.now,
    steadyMs,
    pause: (ms) => machine.wait(ms),
  }
  const read = (key: StreamKey, fromMemory: boolean) =>
    fromMemory ? load(journal, key) : reload(journal, key)
  const duties = createDuties<Fact>({
    ...{
      read,
      list: options.list,
      sender: createModelSender<Fact>(machine, { stream, mistake }),
      further: options.duties ?? [],
    },
    mayCount: (entry) => entry.o !== own?.o || own.knowsBelow(entry),
    ...{ steadyMs, after: (ms, work) => machine.after(ms, work), logger },
  })
  const takeOvers = createTakeOvers<Fact>({
    ...{ instances, duties, read, logger },
    isFinished: options.isFinished,
    takeOver: options.takeOver,
    current: instance,
    unfinished: options.unfinished ?? (async () => []),
  })
  const recovery = createRecovery<Fact>({
    ...{ store, instances, duties, takeOvers, logger, sizeMax: memoryMax },
    pause: (ms) => machine.wait(ms),
  })

  /** Begins a new instance: what the one before had to do is for those who recover it. */
  function begin(o: string): void {
    recovery.abort()
    duties.forget()
    journal.memory.clear()
    if (own !== null) {
      former = [own, ...former]
      options.forgetWork?.()
    }
    const current: OwnEntries<Fact> = createOwnEntries({
      ...{ o, store, duties, steadyMs, capacity: memoryMax },
      blank: (_id) => blankOf(own ?? current, _id),
    })
    own = current
  }

  function blankOf(writer: OwnEntries<Fact>, _id: string): Entry<Fact> {
    const entry = { _id, w: newWrite(), o: writer.o, q: writer.next(), at: machine.now(), f: [] }
    writer.settled(entry, 'taken')
    return entry
  }

  async function beat(): Promise<void> {
    const beaten = await instances.beat((o) =>
      own?.o === o ? own.progress() : { done: 0, last: 0, oldestAt: null },
    )
    if (beaten.instance !== own?.o) begin(beaten.instance)
    alive = beaten.alive
    const living = mistake.journal === 'what lives is taken over' ? alive : []
    for (const _id of living) if (_id !== own?.o) recovery.begin({ _id, done: 0 })
    for (const dead of beaten.toRecover) recovery.begin(dead)
  }

  async function watch(): Promise<void> {
    const o = instance()
    if (o === null) return
    for (const each of own === null ? former : [own, ...former])
      await takeOvers.take(await each.closeLost(), (writer) => writer === each.o)
    former = former.filter((each) => each.hasOpen())
    if (alive.toSorted()[0] === o) await takeOvers.takeListed()
  }

  /** Does the work every so often for as long as the machine lives. */
  function repeat(everyMs: number, work: () => Promise<void>): void {
    machine.after(everyMs, () => {
      work()
        .catch((error: unknown) => {
          if (!isExpected(error)) onError(error)
        })
        .finally(() => repeat(everyMs, work))
    })
  }

  return {
    journal,
    listed: duties.listed,
    alive: () => alive,
    taking: takeOvers.taking,
    async start() {
      for (;;) {
        try {
          await beat()
          await recovery.begun()
          await takeOvers.takeListed()
          break
        } catch (error) {
          if (!isExpected(error)) throw error
          await machine.wait(againMs)
        }
      }
      repeat(beatEveryMs, beat)
      repeat(listEveryMs, duties.listAll)
      if (options.duties !== undefined) repeat(beatEveryMs, duties.countAll)
      repeat(watchEveryMs, watch)
    },
  }
}

/** Publishes each stream's events in their order; what fails is tried again. */
function createModelSender<Fact>(
  machine: Machine,
  { stream, mistake }: Pick<World, 'stream' | 'mistake'>,
): EventSender<Fact> {
  let generation = 0
  const last = new Map<StreamKey, Promise<void>>()
  return {
    send({ stream: key, entry, recorded }) {
      const own = generation
      const isEarly = mistake.journal === 'events count as recorded before they are sent'
      if (isEarly) recorded()
      const publish = async () => {
        for (const event of entry.ev ?? []) {
          for (let isSent = false; !isSent && own === generation; ) {
            isSent = await machine
              .io('publish', () => stream.publish(event))
              .then(
                () => true,
                () => machine.wait(againMs).then(() => false),
              )
          }
        }
        if (own === generation && !isEarly) recorded()
      }
      last.set(key, (last.get(key) ?? Promise.resolve()).then(publish))
    },
    forget() {
      generation += 1
      last.clear()
    },
    start: () => async () => undefined,
  }
}

/** A log that hands on what no process is expected to log. */
function reporting(onError: (error: unknown) => void) {
  return pino(
    {
      hooks: {
        logMethod([first]) {
          if (typeof first === 'object' && first !== null && 'err' in first && !isExpected(first.err))
            onError(first.err)
        },
      },
    },
    { write: () => undefined },
  )
}
