import { setTimeout as delay } from 'node:timers/promises'
import { randomHex } from '@pitboss/runtime/new-id'
import { createSteadyClock } from '@pitboss/runtime/steady-clock'
import type { Clock } from '@pitboss/runtime/clock'
import { type Poll, startPoll, startRestingPoll } from '@pitboss/runtime/poll'
import { within } from '@pitboss/runtime/within'
import type { Db } from 'mongodb'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createInstances, type InstanceDocument, type Instances } from './instances.ts'
import type { Journal } from './journal.ts'
import type { StreamKey } from './journal-keys.ts'
import { createJournalMetrics } from './journal-metrics.ts'
import { createJournalProcess, type JournalWork } from './journal-process.ts'
import { mongodbJournal } from './mongodb-journal.ts'
import { createEventSender, type EventPublisher, type EventsPosition } from './send-events.ts'

/*
 * How a service keeps its journal: `openJournal`, then `running.start()` once the service can take streams
 * over, then `append` or `change`, and `running.listed(stream, number)` before the answer.
 * - A stream's work belongs to the instance that wrote its last entry, as long as that is alive. The service
 *   has it in memory and acts by appending; another one leaves it alone, also the one that had it before.
 * - Nobody acts on an entry before its append is answered `appended`. `unknown` is no answer to act on: what
 *   stands of it comes back by `takeOver`, here or in another process.
 * - Who goes on with what another instance has begun, such as a call past its `until`, adopts the stream
 *   first.
 * - An entry with claims has no events. Entries come back from memory without their events.
 * - List documents are written by `list`, before the events of their entries leave, within 5 s else; those of
 *   `newLists` go out with the entry, and `list` finds them there.
 */

/** What a service gives to its journal. */
export type JournalOptions<Fact> = JournalWork<Fact> & {
  readonly bus: EventPublisher
  /** `eventsPosition` of the bus. */
  readonly position: (withFirst: boolean) => Promise<EventsPosition>
  readonly clock: Clock
  readonly logger: Logger
  /** The commit or release that runs. */
  readonly build: string
  /** The place in which this process runs, one at a time; null where none is set. */
  readonly slot?: string | null
  readonly newId: (prefix: string) => string
}

/** A service's journal at work. */
export type RunningJournal<Fact> = {
  /** For `append`, `load`, `change` and `adopt`. */
  readonly journal: Journal<Fact>
  /**
   * Begins duties and take-overs; call it when the service can take streams over, before it is ready.
   * Resolves when what dead instances wrote last has been taken over once; what has waited for longer, as for
   * a player, is taken over beside requests.
   */
  start(): Promise<void>
  /**
   * Resolves when the stream's list document stands at `number` or later; writes it now. To be awaited before
   * an answer that names what the entry shows.
   */
  listed(stream: StreamKey, number: number): Promise<void>
  /** Instances that are alive, by the last beat. */
  alive(): readonly string[]
  /** The instances, for copies in memory (`shareCopies`) and for take-overs. */
  readonly instances: Pick<Instances, 'current' | 'readAlive' | 'readExited'>
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
const lookEveryMs = 250
const lookRestMs = 2000
const waitMs = 20
/** Of an id's random ones: 60 bits. */
const instanceCharacters = 12
/** What is not done by then at a clean end is left to others. */
const drainMaxMs = 3000

/**
 * Opens a service's journal in the collection `journal`, with its instances in `journal_instances`. Declare
 * `journalIndexes` with the former.
 * @throws what the database throws for the first beat
 */
export async function openJournal<Fact>({
  db,
  registry,
  bus,
  position,
  clock,
  logger,
  build,
  slot = null,
  newId,
  ...work
}: JournalOptions<Fact> & { db: Db; registry?: Registry }): Promise<RunningJournal<Fact>> {
  const steadyMs = createSteadyClock()
  const collection = db.collection<InstanceDocument>('journal_instances')
  const now = () => clock.now()
  // Each entry names it twice.
  const newInstance = () => newId('ins').slice(-instanceCharacters)
  const instances = createInstances({ collection, build, slot, newInstance, now, steadyMs })
  const isCurrent = (o: string) => instances.current() === o
  const store = mongodbJournal<Fact>(db, { isCurrent, steadyMs })
  const stopping = new AbortController()
  const { journal, duties, ...own } = createJournalProcess<Fact>({
    ...{ ...work, store, instances, now, steadyMs, logger },
    sender: createEventSender({ bus, position, now, logger }),
    newWrite: randomHex,
    after: (ms, then) => void setTimeout(then, ms).unref(),
    wait: (ms) => delay(ms),
    pause: (ms) => delay(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined),
    isStopping: () => stopping.signal.aborted,
  })
  await own.beat()
  const { unownedTotal } = own
  if (registry !== undefined) createJournalMetrics({ registry, instances: collection, unownedTotal, clock })
  const polls: Poll[] = [
    startPoll({
      event: 'journal.beat-failed',
      everyMs: beatEveryMs,
      work: own.beat,
      ...{ logger, level: 'warn' },
    }),
  ]
  let stopDuties = async (): Promise<void> => undefined

  return {
    journal,
    async start() {
      stopDuties = duties.start()
      polls.push(
        startRestingPoll({
          event: 'journal.refill-failed',
          everyMs: lookEveryMs,
          restMs: lookRestMs,
          hasWork: own.hasUnread,
          work: own.refill,
          logger,
        }),
      )
      await own.recover()
      polls.push(
        startRestingPoll({
          event: 'journal.close-lost-failed',
          everyMs: lookEveryMs,
          restMs: lookRestMs,
          hasWork: own.hasLost,
          work: own.closeLost,
          logger,
        }),
        startWatch(own.watch, logger),
      )
    },
    listed: (stream, number) => duties.listed(stream, number),
    alive: own.alive,
    instances,
    taking: own.taking,
    unownedTotal,
    async stop() {
      const untilMs = steadyMs() + drainMaxMs
      await within(duties.listAll(), drainMaxMs)
      while (own.isStarted() && duties.size() > 0 && steadyMs() < untilMs) await delay(waitMs)
      stopping.abort()
      own.abort()
      await Promise.all(polls.map((poll) => poll.stop()))
      await within(own.ended(), drainMaxMs)
      await stopDuties()
      const progress = own.progress()
      if (progress === null) return
      // Without it others judge this instance seconds later.
      const left = instances.leave(progress)
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
