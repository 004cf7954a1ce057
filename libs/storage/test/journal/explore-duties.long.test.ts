import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { exploreSchedules, type Run, type Stage } from '@pitboss/testing/explore-schedules'
import t from 'tap'
import { createDuties, type Duties } from '../../src/journal/duties.ts'
import type { Landed } from '../../src/journal/group-commit.ts'
import {
  adopt,
  append,
  type Entry,
  type Journal,
  type JournalDocument,
  type JournalStore,
  load,
} from '../../src/journal/journal.ts'
import { entryNumber, streamKey, streamOf } from '../../src/journal/journal-keys.ts'
import { createOwnEntries } from '../../src/journal/own-entries.ts'
import { createRecovery } from '../../src/journal/recover.ts'
import { createTakeOvers } from '../../src/journal/take-overs.ts'
import type { EventSender } from '../../src/journal/send-events.ts'
import { silentLogger } from '../fixtures/test-storage.ts'

/*
 * A opens a stream and ends it with an event; B judges A dead, rightly or not, and recovers it. A may die or
 * stand still at each step, and what it has on the wire lands later, or not at all once it is dead.
 */

type Fact = 'opened' | 'adopted' | 'ended'
type Rules = {
  /** The number that a process which recovers A believes its duties are done up to. */
  done: (progress: { readonly done: number; readonly last: number }) => number
  /** Whether a list document stands when `list` says so. */
  awaitsList: boolean
  /** When an entry counts as recorded: with its publication, or before. */
  recordedBefore: boolean
  /** Whether a process asks right before it sends whether it may have been judged dead. */
  asksBeforeItSends: boolean
  /** Whether what lands after the first scan is looked for. */
  scansAgain: boolean
  takeOver: (journal: Journal<Fact>, stream: string) => Promise<unknown>
}

const deadline = Number.POSITIVE_INFINITY
const event = { id: 'evt_1', subject: 'events', body: '{}' }
const streams = [streamKey('one')] as const
const isOver = (entries: readonly Entry<Fact>[]) => entries.some(({ f }) => f.includes('ended'))
const takeOver: Rules['takeOver'] = async (journal, stream) => {
  const adopted = await adopt(journal, stream, { adopted: 'adopted', claimsOf: () => [] }, deadline)
  if (adopted.kind !== 'appended') return
  const { last } = await load(journal, stream)
  await append(journal, stream, last, { facts: ['ended'], events: [{ ...event, id: 'evt_2' }] }, deadline)
}
const rules: Rules = {
  done: ({ done }) => done,
  awaitsList: true,
  recordedBefore: false,
  asksBeforeItSends: true,
  scansAgain: true,
  takeOver,
}

function createWorld(stage: Stage, rule: Rules) {
  const table = new Map<string, JournalDocument<Fact>>()
  const shown = new Map<string, number>()
  const published = new Set<string>()
  const known = new Set(['A', 'B'])
  let wires = 0
  let isAlive = true
  let judged = false
  let early: string | null = null

  const goes = (process: string) => ({ mayGo: () => process !== 'A' || isAlive })
  const entriesOf = (stream: string) =>
    [...table.values()]
      .filter((each): each is Entry<Fact> => each._id.startsWith(`${stream}/`))
      .toSorted((a, b) => (a._id < b._id ? -1 : 1))

  function storeOf(process: string): JournalStore<Fact> {
    return {
      async insert(documents) {
        const fates = documents.map((): Landed | null => null)
        const mayGo = await stage.step(
          process,
          `sends ${documents.map(({ _id }) => _id).join(', ')}`,
          { sends: () => process !== 'A' || !judged || !rule.asksBeforeItSends },
          goes(process),
        )
        if (!mayGo) return 'unknown'
        documents.forEach((document, index) => {
          wires += 1
          const lands = () => {
            wires -= 1
            fates[index] = table.has(document._id) ? 'present' : 'inserted'
            if (fates[index] === 'inserted') table.set(document._id, document)
          }
          const drops = process === 'A' ? { 'is dropped': () => (isAlive ? lands() : void (wires -= 1)) } : {}
          void stage.step(`wire of ${process}, ${document._id}`, 'lands', { lands, ...drops })
        })
        await stage.step(
          process,
          'is answered',
          { answered: () => {} },
          { mayGo: () => goes(process).mayGo() && fates.every((fate) => fate !== null) },
        )
        return fates.map((fate) => fate ?? 'present')
      },
      readEntries: (stream) =>
        stage.step(process, `reads ${stream}`, { read: () => entriesOf(stream) }, goes(process)),
      read: (ids) =>
        stage.step(
          process,
          `reads ${ids.join(', ')}`,
          { read: () => ids.flatMap((id) => table.get(id) ?? []) },
          goes(process),
        ),
      readWritten: (o, { after, limit }) =>
        stage.step(process, `reads what ${o} has written`, {
          read: () =>
            [...table.values()]
              .filter((each): each is Entry<Fact> => 'q' in each && each.o === o && each.q > after)
              .toSorted((a, b) => a.q - b.q)
              .slice(0, limit),
        }),
      readClaims: () => Promise.reject(new Error('no process here asks for the last claims')),
      removeClaim: () => Promise.resolve(),
    }
  }

  function createProcess(process: string) {
    let writes = 0
    const instance = () => (process === 'A' && judged ? null : process)
    const store = storeOf(process)
    const sender: Pick<EventSender<Fact>, 'send'> = {
      send({ entry, recorded }) {
        if (rule.recordedBefore) recorded()
        void stage
          .step(
            process,
            `publishes ${entry._id}`,
            {
              published() {
                if ((shown.get(streamOf(entry._id)) ?? 0) < entryNumber(entry._id)) early = entry._id
                for (const { id } of entry.ev ?? []) published.add(id)
              },
            },
            goes(process),
          )
          .then(() => rule.recordedBefore || recorded())
      },
    }
    const read = (stream: string, fromMemory: boolean) => {
      if (!fromMemory) journal.memory.delete(stream)
      return load(journal, stream)
    }
    const duties: Duties<Fact> = createDuties<Fact>({
      read,
      async list(stream, entries) {
        const n = entryNumber(entries.at(-1)?._id ?? '')
        const written = stage.step(
          process,
          `lists ${stream} at ${n}`,
          { listed: () => void shown.set(stream, Math.max(n, shown.get(stream) ?? 0)) },
          goes(process),
        )
        if (rule.awaitsList) await written
      },
      sender: { ...sender, forget: () => undefined, start: () => async () => undefined },
      further: [],
      mayCount: () => true,
      isOver: () => false,
      steadyMs: () => 0,
      after: (_ms, work) => work(),
      logger: silentLogger,
    })
    const own = createOwnEntries<Fact>({
      ...{ o: process, store, duties, capacity: 100 },
      blank: () => {
        throw new Error('no process here looks for lost entries')
      },
      steadyMs: () => 0,
    })
    const journal: Journal<Fact> = {
      store,
      memory: new BoundedMap(100),
      nextWriter: async () => (instance() === null ? null : { o: process, q: own.next() }),
      instance,
      settled: (entry, fate) => own.settled(entry, fate),
      newWrite: () => `${process}${++writes}`,
      now: () => new Date(0),
      steadyMs: () => 0,
      pause: () => Promise.resolve(),
    }
    return { journal, duties, own, store, read }
  }

  const a = createProcess('A')

  async function live(): Promise<void> {
    for (const stream of streams) {
      const opened = await append(a.journal, stream, 0, { facts: ['opened'] }, deadline)
      if (opened.kind !== 'appended') return
      const ended = { facts: ['ended'], events: [event] } as const
      await append(a.journal, stream, 1, ended, deadline)
    }
  }

  const die = () => stage.step('death', 'A dies', { dies: () => void (isAlive = false), lives: () => {} })

  async function recover(): Promise<void> {
    const { journal, duties, store, read } = createProcess('B')
    const progress = await stage.step('B', 'judges A dead', {
      judged() {
        judged = true
        return a.own.progress()
      },
    })
    const instances = {
      readKnown: async () => [...known],
      recovered: async (o: string) => void known.delete(o),
    }
    const takeOvers = createTakeOvers<Fact>({
      ...{ instances, duties, read, logger: silentLogger },
      isFinished: isOver,
      takeOver: async (stream) => void (await rule.takeOver(journal, stream)),
      current: journal.instance,
      unfinished: async () => [],
      ...{ steadyMs: () => 0, pause: async () => undefined },
    })
    createRecovery<Fact>({
      ...{ store, instances, duties, takeOvers, logger: silentLogger },
      sizeMax: 100,
      // What is on the wire lands within the minute between the two scans.
      async pause(ms) {
        if (ms > 1000 && !rule.scansAgain) return new Promise(() => undefined)
        const idle = { mayGo: () => false, whenIdle: true }
        const options = ms > 1000 ? { mayGo: () => wires === 0 } : idle
        await stage.step('B', `waits ${ms} ms`, { waited: () => {} }, options)
        await duties.listAll()
      },
    }).begin({ _id: 'A', done: rule.done(progress) })
  }

  return {
    live,
    die,
    recover,
    stateOf: () =>
      JSON.stringify([
        [...table.values()].map(({ _id, w }) => `${_id} ${w}`).sort(),
        [...shown],
        [...published],
        [...known],
        ...[wires, isAlive, judged],
      ]),
    broken(): string | null {
      if (early !== null) return `${early} is published before its list document stands`
      const ends = [...table.values()].filter((each) => 'f' in each && each.f.includes('ended'))
      return ends.length > 1 ? 'a stream has ended twice' : null
    },
    async brokenAtEnd(): Promise<string | null> {
      for (const stream of streams) {
        const entries = entriesOf(stream)
        const last = entries.at(-1)
        if (last === undefined) continue
        if (!isOver(entries)) return 'an unfinished stream has no owner'
        if (shown.get(stream) !== entryNumber(last._id)) return 'a stream is not listed to its end'
        const lost = entries.flatMap(({ ev = [] }) => ev).find(({ id }) => !published.has(id))
        if (lost !== undefined) return 'an event is lost'
      }
      return null
    },
  }
}

function explore(mistake: Partial<Rules> = {}) {
  return exploreSchedules({
    statesMax: 30_000,
    begin(stage): Run {
      const world = createWorld(stage, { ...rules, ...mistake })
      void world.live()
      void world.die()
      void world.recover()
      return world
    },
  })
}

await t.test('what a process leaves is finished, listed, and then published, whenever it dies', async (t) => {
  const { states, ends, violation } = await explore()
  t.strictSame(violation, null)
  t.ok(ends > 10, `${states} states, ${ends} ends`)
  t.comment(`${states} states, ${ends} ends`)
})

const mistakes: Record<string, Partial<Rules>> = {
  'events leave before the list document stands': { awaitsList: false },
  'an entry is done before its events are published': { recordedBefore: true },
  'who is judged dead sends what it has decided before': { asksBeforeItSends: false },
  'what lands after the first scan is not looked for': { scansAgain: false },
  'recovery begins at the last number': { done: ({ last }) => last },
  'who takes over ends the stream without adopting it': {
    async takeOver(journal, stream) {
      await append(journal, stream, 0, { facts: ['ended'] }, deadline)
    },
  },
}
for (const [name, mistake] of Object.entries(mistakes)) {
  await t.test(`found: ${name}`, async (t) => {
    const { violation, states } = await explore(mistake)
    t.not(violation, null, `${states} states`)
    t.comment(`${states} states: ${violation?.invariant}`)
  })
}
