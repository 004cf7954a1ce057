import type { Instances } from '@pitboss/storage/journal/instances'
import type { Entry, Fate, Journal, JournalStore } from '@pitboss/storage/journal/journal'
import { createJournalProcess, type JournalWork } from '@pitboss/storage/journal/journal-process'
import { entryNumber, type StreamKey, streamOf } from '@pitboss/storage/journal/journal-keys'
import type { RunningJournal } from '@pitboss/storage/journal/open-journal'
import type { EventSender } from '@pitboss/storage/journal/send-events'
import { pino } from 'pino'
import { BrokenInvariant } from './check-steps.ts'
import { isExpected } from './is-expected.ts'
import type { Machine } from './machine.ts'
import type { World } from './world.ts'

/** The part of a running journal that services need of the model. */
export type ModelRunning<Fact> = Pick<
  RunningJournal<Fact>,
  'journal' | 'listed' | 'alive' | 'taking' | 'start'
> & { readonly instances: Pick<Instances, 'readExited'> }

const beatEveryMs = 1000
const listEveryMs = 4000
const watchEveryMs = 60_000
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
  { store, instances, work }: { store: JournalStore<Fact>; instances: Instances; work: JournalWork<Fact> },
): ModelRunning<Fact> {
  const { journal, duties, ...own } = createJournalProcess<Fact>({
    ...{ ...work, store, logger: reporting(onError) },
    instances: mistake.journal === 'what lives is taken over' ? judgingAll(instances) : instances,
    sender: createModelSender<Fact>(machine, { stream, mistake }),
    newWrite: () => newId('w'),
    now: machine.now,
    steadyMs: timeline.nowMs,
    after: (ms, then) => machine.after(ms, then),
    ...{ wait: machine.wait, pause: machine.wait, isStopping: () => false },
  })

  watchMemory(journal, { mistake, onError })

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
    alive: own.alive,
    instances,
    taking: own.taking,
    async start() {
      for (;;) {
        try {
          await own.recover()
          break
        } catch (error) {
          if (!isExpected(error)) throw error
          await machine.wait(againMs)
        }
      }
      repeat(beatEveryMs, own.beat)
      repeat(listEveryMs, duties.listAll)
      if (work.duties !== undefined) repeat(beatEveryMs, duties.countAll)
      // A process looks sooner; what lies for a minute meets more.
      repeat(watchEveryMs, async () => {
        await own.closeLost()
        await own.watch()
      })
    },
  }
}

/** Judges everybody else dead: a mistake. */
function judgingAll(instances: Instances): Instances {
  return {
    ...instances,
    async beat(progressOf) {
      const beaten = await instances.beat(progressOf)
      const others = beaten.alive.filter((_id) => _id !== beaten.instance)
      return { ...beaten, toRecover: [...others.map((_id) => ({ _id, done: 0 })), ...beaten.toRecover] }
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

/** What a process has appended itself, no read of its own that was slower takes from it. */
function watchMemory<Fact>(
  journal: Journal<Fact>,
  { mistake, onError }: Pick<World, 'mistake' | 'onError'>,
): void {
  const appended = new Map<StreamKey, number>()
  const { memory, settled } = journal
  const [get, set, clear] = [memory.get.bind(memory), memory.set.bind(memory), memory.clear.bind(memory)]
  Object.assign(journal, {
    settled(entry: Entry<Fact>, fate: Fate) {
      if (fate === 'stands') appended.set(streamOf(entry._id), entryNumber(entry._id))
      settled(entry, fate)
    },
  })
  memory.get = (stream) => {
    const seen = get(stream)
    const number = appended.get(stream) ?? 0
    if (seen !== undefined && seen.end < number) {
      const what = `${stream} ends at ${seen.end}, not at ${number}`
      onError(new BrokenInvariant('what a process has appended it remembers', what))
    }
    return seen
  }
  // A process that may have been judged dead starts with an empty memory.
  memory.clear = () => (appended.clear(), clear())
  if (mistake.journal !== 'a slow read is remembered') return
  memory.set = (stream, seen) => (seen.last < 0 ? memory.delete(stream) : set(stream, seen))
}
