import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { exploreSchedules, type Run, type Stage } from '@pitboss/testing/explore-schedules'
import t from 'tap'
import type { LogDocument } from '../../src/storage/collections.ts'
import { appendEvents, type LogStore, type LogWriter, type NewEvent } from '../../src/storage/log-append.ts'
import { readLogKey } from '../../src/storage/log-keys.ts'

/*
 * Appends to the event log in every order in which their steps can take effect: two recorders with
 * overlapping batches, one of which can die; an insert whose answer is lost, and whose documents land later
 * or never; events that nobody can have recorded before, which are not searched for.
 */

type Table = Map<string, LogDocument>
type Mistake = (writer: LogWriter, table: Table) => LogWriter

const toNobody = async () => () => []
const statesMax = 100_000
const scope = { operatorId: 'operator', environment: 'SANDBOX' } as const
const at = new Date('2026-11-28T12:00:00.000Z')

const after = (minutes: number) => new Date(at.getTime() + minutes * 60_000)
const minutes: Record<string, number> = { one: 1, two: 2, three: 3 }

/** @param isNamed its id names when its round was opened */
function event(id: string, isNamed: boolean): NewEvent {
  const createdAt = after(minutes[id] ?? 0)
  const openedAtMs = isNamed ? createdAt.getTime() : null
  const times = { createdAt, openedAtMs, recordedAt: at }
  return { scope, id, type: 'round.started', ...times, body: id, roundId: null }
}

const idOf = ({ e }: LogDocument) => e

/** One log, and what was said of it. */
function createWorld(stage: Stage, mistaken: Mistake) {
  const table: Table = new Map()
  /** Events whose messages a process has acknowledged, and those that it has called new, by process. */
  const acknowledged = new Set<string>()
  const called: string[] = []
  /** Answers that are yet to be lost. */
  let losses = 1

  /** @param isWeak it may die before an insert, and its answers may be lost */
  function storeOf(process: string, isWeak: boolean): LogStore {
    let sent = 0
    return {
      endOf: () =>
        stage.step(process, 'reads the end', {
          read: () => ({ seq: table.size, highAt: [...table.values()].at(-1)?.h ?? at }),
        }),
      withIds: (ids) =>
        stage.step(process, `searches ${ids.join(', ')}`, {
          read: () =>
            [...table.values()]
              .filter((document) => ids.includes(idOf(document)))
              .map((document) => ({
                ...{ id: idOf(document), scope, type: document.t },
                seq: readLogKey(document._id).seq,
              })),
        }),
      async insert(documents) {
        const wire = `${process}'s insert ${++sent}`
        const what = documents
          .map((document) => `${readLogKey(document._id).seq}=${idOf(document)}`)
          .join(', ')
        const lose = () => {
          losses -= 1
          return 'loses'
        }
        const plan = await stage.step(
          process,
          `sends ${what}`,
          { waits: () => 'waits', ...(isWeak && losses > 0 ? { 'loses the answer': lose } : {}) },
          { mayDie: () => isWeak },
        )
        let landed = 0
        let isOver = false
        const land = async () => {
          for (const document of documents) {
            const isIn = await stage.step(wire, document._id, {
              lands() {
                if (table.has(document._id)) return false
                table.set(document._id, document)
                return true
              },
              ...(plan === 'loses' ? { 'is dropped': () => false } : {}),
            })
            if (!isIn) break
            landed += 1
          }
          isOver = true
        }
        void land()
        if (plan === 'loses') throw new Error('the connection is gone')
        await stage.step(process, 'is answered', { answered: () => {} }, { mayGo: () => isOver })
        return landed
      },
    }
  }

  function writerOf(process: string, isWeak: boolean): LogWriter {
    const writer = {
      ...{ store: storeOf(process, isWeak), ends: new BoundedMap<string, never>(10), recent: new Map() },
      ...{ steadyMs: () => 0, pause: async () => undefined },
    }
    return mistaken(writer, table)
  }

  return {
    /** Records batches one after the other. A batch that failed comes again, as its messages do. */
    async record(
      process: string,
      batches: readonly (readonly string[])[],
      { isWeak = false, isNamed = false } = {},
    ): Promise<void> {
      const writer = writerOf(process, isWeak)
      for (const ids of batches) {
        for (let isDone = false; !isDone; ) {
          try {
            const { recorded } = await appendEvents(
              writer,
              ids.map((id) => event(id, isNamed)),
              toNobody,
            )
            called.push(...recorded.map(({ id }) => id))
            for (const id of ids) acknowledged.add(id)
            isDone = true
          } catch {
            isDone = false
          }
        }
      }
    },
    stateOf: () =>
      JSON.stringify([
        [...table].map(([key, document]) => `${key}=${idOf(document)}`).sort(),
        [...acknowledged].sort(),
        called.toSorted(),
        losses,
      ]),
    broken(): string | null {
      const ids = [...table.values()].map(idOf)
      if (new Set(ids).size < ids.length) return 'an event is recorded twice'
      const seqs = [...table.keys()].map((key) => readLogKey(key).seq)
      if (Math.max(0, ...seqs) > seqs.length) return 'the numbers have a gap'
      if (new Set(called).size < called.length) return 'an event is new to two recorders'
      return [...acknowledged].every((id) => ids.includes(id))
        ? null
        : 'an event is acknowledged and not recorded'
    },
  }
}

type World = ReturnType<typeof createWorld>

function explore(begin: (world: World) => void, mistaken: Mistake = (writer) => writer) {
  return exploreSchedules({
    statesMax,
    begin(stage): Run {
      const world = createWorld(stage, mistaken)
      begin(world)
      return { stateOf: world.stateOf, broken: world.broken, brokenAtEnd: async () => world.broken() }
    },
  })
}

const overlapping = (world: World) => {
  void world.record('A', [['one', 'two']], { isWeak: true })
  void world.record('B', [['two', 'three']])
}
const oneGoesOn = (world: World) => {
  void world.record('A', [['one'], ['two', 'three']], { isWeak: true })
  void world.record('B', [['three']])
}
const newOnes = (world: World) => {
  void world.record('A', [['one'], ['two'], ['one']], { isWeak: true, isNamed: true })
  void world.record('B', [['two']], { isNamed: true })
}
const begins = { overlapping, oneGoesOn, newOnes }

for (const [name, begin] of Object.entries(begins)) {
  await t.test(`${name}: each event is recorded once, without gaps`, async (t) => {
    const { states, ends, violation } = await explore(begin)
    t.strictSame(violation, null)
    t.ok(ends > 10, `${states} states, ${ends} ends`)
    t.ok(states < statesMax, 'all of them')
    t.comment(`${states} states, ${ends} ends`)
  })
}

const inStore =
  (mistaken: (store: LogStore, table: Table) => LogStore): Mistake =>
  (writer, table) => ({ ...writer, store: mistaken(writer.store, table) })

const mistakes: Record<string, Mistake> = {
  'the log is searched before its end is read': inStore((store) => {
    let early: ReturnType<LogStore['withIds']> | null = null
    return {
      ...store,
      async endOf(of) {
        early = store.withIds(['one', 'two', 'three'])
        await early
        return store.endOf(of)
      },
      withIds: (ids) => early ?? store.withIds(ids),
    }
  }),
  'what another has inserted meanwhile is not searched': inStore((store) => {
    let first: ReturnType<LogStore['withIds']> | null = null
    return { ...store, withIds: (ids) => (first ??= store.withIds(ids)) }
  }),
  'an insert goes on after a number that is taken': inStore((store, table) => ({
    ...store,
    async insert(documents) {
      let count = 0
      for (const document of documents) count += await store.insert([document])
      return count < documents.length && table.size > 0 ? documents.length : count
    },
  })),
  'a lost answer counts as an insert': inStore((store) => ({
    ...store,
    insert: (documents) => store.insert(documents).catch(() => documents.length),
  })),
  'the end is read without the latest creation time': inStore((store) => ({
    ...store,
    endOf: async (of) => ({ ...(await store.endOf(of)), highAt: at }),
  })),
  'what it has recorded itself is forgotten': (writer) => {
    writer.recent.set = () => writer.recent
    return writer
  },
}
for (const [name, mistaken] of Object.entries(mistakes)) {
  await t.test(`found: ${name}`, async (t) => {
    for (const begin of Object.values(begins)) {
      const { violation } = await explore(begin, mistaken)
      if (violation !== null) return t.pass(violation.invariant)
    }
    t.fail('nothing is broken')
  })
}
