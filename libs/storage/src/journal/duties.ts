import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { startPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { Entry, Loaded } from './journal.ts'
import { entryNumber, streamOf, type StreamKey } from './journal-keys.ts'
import type { EventSender } from './send-events.ts'

/** A further duty of entries: idempotent, and repeated until it succeeds. */
export type Duty<Fact> = {
  readonly name: string
  /**
   * Gets entries of one instance in the order of their running numbers; calls go on where the last one ended.
   * @param missing numbers below the last of them under which an entry may still land; see `fold`
   */
  run(entries: readonly [Entry<Fact>, ...Entry<Fact>[]], missing: readonly number[]): Promise<void>
}

/** An entry that is not done: each of its parts has to be, once. */
type Task<Fact> = {
  readonly entry: Entry<Fact>
  readonly stream: StreamKey
  readonly number: number
  readonly sinceMs: number
  readonly finish: () => void
  readonly missing: readonly number[]
  parts: number
}

export type Duties<Fact> = ReturnType<typeof createDuties<Fact>>

const everyMs = 1000
/** A stream that nobody was told of has its list document within 5 s. */
const listedAfterMs = 3500
const atOnce = 16
/** Events wait so long for the list document that the end of a round asks for: it is written once. */
const eventsWaitMs = 1000
const listedMax = 20_000
const entriesPerRun = 500
const listTriesMax = 3

/**
 * What follows an entry: its stream's list document, then its events, then that webhooks has recorded them;
 * beside these the further duties. Nothing of it is stored: after a crash it is done again, by ids and
 * numbers that let it count once.
 */
export function createDuties<Fact>({
  read,
  list,
  sender,
  further,
  mayCount,
  isOver,
  steadyMs,
  after,
  logger,
}: {
  /** @param fromMemory false reads past the memory */
  read: (stream: StreamKey, fromMemory: boolean) => Promise<Loaded<Fact>>
  list: (stream: StreamKey, entries: readonly Entry<Fact>[]) => Promise<void>
  sender: EventSender<Fact>
  further: readonly Duty<Fact>[]
  /** Whether all entries of the instance below this one are known. */
  mayCount: (entry: Entry<Fact>) => boolean
  /** Whether the stream is known to have nothing left to do, so that no later entry changes what lists show. */
  isOver: (stream: StreamKey) => boolean
  steadyMs: () => number
  /** Does the work after some milliseconds. */
  after: (ms: number, work: () => void) => void
  logger: Logger
}) {
  let unlisted = new Map<StreamKey, Task<Fact>[]>()
  let uncounted = new Map<string, Task<Fact>[]>()
  let size = 0
  let generation = 0
  const listings = new Map<StreamKey, Promise<number>>()
  const listedTo = new BoundedMap<StreamKey, number>(listedMax)

  /** Shares a listing that is under way; what it came too early for is listed after it. */
  function listOnce(stream: StreamKey, fromMemory: boolean): Promise<number> {
    const underWay = listings.get(stream)
    if (underWay !== undefined) return underWay
    const listing = listStream(stream, fromMemory).finally(() => listings.delete(stream))
    listings.set(stream, listing)
    return listing
  }

  /** Lists a stream at once whose events wait for it; a failure is repeated by the poll, which logs it. */
  function listNow(stream: StreamKey, fromMemory = true): void {
    const waits = () => unlisted.get(stream)?.some(({ entry }) => entry.ev !== undefined) === true
    listOnce(stream, fromMemory).then(
      () => waits() && listNow(stream, false),
      () => undefined,
    )
  }

  function listWithEvents(stream: StreamKey): void {
    if (unlisted.has(stream)) listNow(stream)
  }

  async function listStream(stream: StreamKey, fromMemory: boolean): Promise<number> {
    const { entries, unclaimed, last } = await read(stream, fromMemory)
    if (entries.length > 0) await list(stream, entries)
    // What counts for nobody yet is not shown: it is listed again, once its claims are known.
    const hidden = unclaimed.map(({ _id }) => entryNumber(_id))
    wasListed(stream, last, hidden)
    return last
  }

  /** Goes on with the entries up to `last` that the stream's list document shows: all but the hidden ones. */
  function wasListed(stream: StreamKey, last: number, hidden: readonly number[] = []): void {
    listedTo.set(stream, Math.max(Math.min(last + 1, ...hidden) - 1, listedTo.get(stream) ?? 0))
    const tasks = unlisted.get(stream) ?? []
    const isShown = ({ number }: Task<Fact>) => number <= last && !hidden.includes(number)
    const left = tasks.filter((task) => !isShown(task))
    if (left.length === 0) unlisted.delete(stream)
    else unlisted.set(stream, left)
    for (const task of tasks.filter(isShown)) publish(task)
  }

  function publish(task: Task<Fact>): void {
    const { entry, stream } = task
    if (entry.ev === undefined) pass(task)
    else sender.send({ stream, entry, recorded: () => pass(task) })
  }

  function pass(task: Task<Fact>): void {
    task.parts -= 1
    if (task.parts > 0) return
    size -= 1
    task.finish()
  }

  /** Lists the streams with an entry of this age: of one age where it brings events, of another where not. */
  async function listWaiting(withEventsMs: number, othersMs: number): Promise<void> {
    const nowMs = steadyMs()
    const isDue = (tasks: readonly Task<Fact>[]) =>
      tasks.some(
        ({ entry, sinceMs }) => nowMs - sinceMs >= (entry.ev === undefined ? othersMs : withEventsMs),
      )
    const due = [...unlisted].filter(([, tasks]) => isDue(tasks)).map(([stream]) => stream)
    await mapBounded(due, atOnce, async (stream) => {
      await listOnce(stream, true).catch((err: unknown) =>
        logger.warn({ err, stream }, 'journal.list-failed'),
      )
    })
  }

  /** Runs the further duties, each instance's entries in their order and no further than what is known. */
  async function count(): Promise<number | undefined> {
    const own = generation
    let isMore = false
    for (const [o, tasks] of uncounted) {
      const inOrder = tasks.sort((a, b) => a.entry.q - b.entry.q)
      const end = inOrder.findIndex(({ entry }) => !mayCount(entry))
      const some = inOrder.slice(0, Math.min(entriesPerRun, end === -1 ? inOrder.length : end))
      const [first, ...others] = some.map(({ entry }) => entry)
      if (first === undefined) continue
      const missing = some.flatMap((task) => task.missing)
      for (const duty of further) await duty.run([first, ...others], missing)
      if (own !== generation) return undefined
      isMore ||= some.length === entriesPerRun
      const done = new Set(some)
      const left = (uncounted.get(o) ?? []).filter((task) => !done.has(task))
      if (left.length === 0) uncounted.delete(o)
      else uncounted.set(o, left)
      for (const task of some) pass(task)
    }
    return isMore ? 0 : undefined
  }

  const counting = { wake: () => {} }

  return {
    /**
     * Lists, publishes and has recorded what the entry brings; `finish` is called once all of it is done.
     * @param missing numbers between the entry added before and this one under which an entry may still land
     */
    add(entry: Entry<Fact>, finish: () => void, missing: readonly number[] = []): void {
      const stream = streamOf(entry._id)
      const number = entryNumber(entry._id)
      const parts = further.length === 0 ? 1 : 2
      const task = { entry, stream, number, sinceMs: steadyMs(), finish, missing, parts }
      size += 1
      if (parts > 1) pushTo(uncounted, entry.o, task)
      if ((listedTo.get(stream) ?? 0) >= number) publish(task)
      else {
        pushTo(unlisted, stream, task)
        // What ends soon is listed once, when it is asked for.
        if (entry.ev !== undefined) after(isOver(stream) ? 0 : eventsWaitMs, () => listWithEvents(stream))
      }
      if (entry.au !== undefined) counting.wake()
    },
    /** Resolves when the stream's list document stands at `number` or later; writes it now. */
    async listed(stream: StreamKey, number: number): Promise<void> {
      for (let tries = 0; tries < listTriesMax; tries++) {
        if ((listedTo.get(stream) ?? 0) >= number) return
        if ((await listOnce(stream, tries === 0)) >= number) return
      }
      throw new Error(`${stream} has no entry ${number} to list`)
    },
    wasListed,
    /** Lists what waits, at once, and begins the further duties; a failure is logged. */
    listAll(): Promise<void> {
      counting.wake()
      return listWaiting(0, 0)
    },
    /** Runs the further duties of what waits, at once. */
    async countAll(): Promise<void> {
      while ((await count()) === 0);
    },
    /** The number of entries that are not done. */
    size: () => size,
    /** Forgets all of them: another instance does them. */
    forget(): void {
      generation += 1
      unlisted = new Map()
      uncounted = new Map()
      size = 0
      sender.forget()
    },
    start() {
      const stopSender = sender.start()
      const work = () => listWaiting(eventsWaitMs, listedAfterMs)
      const lists = startPoll({ event: 'journal.list-failed', everyMs, work, logger })
      const counts = startPoll({ event: 'journal.duty-failed', everyMs, work: count, logger })
      counting.wake = () => counts.wake()
      return async () => {
        await Promise.all([lists.stop(), counts.stop()])
        await stopSender()
      }
    },
  }
}

function pushTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
