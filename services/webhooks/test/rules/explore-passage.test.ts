import { exploreSchedules, type Run, type Stage } from '@pitboss/testing/explore-schedules'
import t from 'tap'
import { takeOverPassage, type PassageStore } from '../../src/actions/take-over-passage.ts'
import {
  addEvent,
  knownTo,
  nextRange,
  noteEvent,
  type NextRange,
  type Passage,
  passTo,
  sendableTo,
} from '../../src/rules/passage.ts'

/*
 * Two workers of one endpoint and six events, in every order in which ranges can land, be answered late or
 * never, and workers can die or be taken for dead. Only first attempts are made here; whoever is stored as
 * interrupted is sent under the next number.
 */

type Event = number
type Store = Omit<PassageStore<Event>, 'insertRange'> & {
  readonly insertRange: (range: NextRange<Event>) => Promise<boolean>
}
type Rules = {
  readonly takeOver: typeof takeOverPassage
  readonly sendableTo: typeof sendableTo
  /** So many answers of ranges may be lost, and these land late or never. */
  readonly lost: number
}

const rules: Rules = { takeOver: takeOverPassage, sendableTo, lost: 0 }
const statesMax = 8000
const events = 6
const ahead = 2

/** The ranges, the deliveries that are stored, and the first attempts that the receiver has met. */
function createWorld(stage: Stage, { takeOver, sendableTo: mayBeSentTo, lost }: Rules) {
  const ranges = new Map<
    number,
    { readonly to: number; readonly by: string; readonly items: readonly Event[] }
  >()
  const interrupted = new Set<Event>()
  const sent = new Map<Event, number>()
  let patience = lost
  let isTakenOver = false
  const cursor = () => Math.max(0, ...[...ranges.values()].map(({ to }) => to))

  function storeOf(worker: string): Store {
    let writes = 0
    return {
      readCursor: () => stage.step(worker, 'reads the last range', { read: cursor }),
      holdsLease: () => stage.step(worker, 'reads the lease', { read: () => worker === 'E' || !isTakenOver }),
      readAfter: async (after) =>
        Array.from({ length: Math.min(3, events - after) }, (_, index) => after + 1 + index),
      isWanted: (event) => event !== 3,
      storeInterrupted: (seqs) =>
        stage.step(worker, `stores ${seqs.join(', ')}`, {
          stored: () => seqs.forEach((seq) => interrupted.add(seq)),
        }),
      async insertRange({ first, to, items }) {
        const by = `${worker}${++writes}`
        for (;;) {
          let fate: boolean | null = null
          const plan = await stage.step(worker, `sends the range ${first} to ${to}`, {
            waits: () => 'waits',
            ...(patience > 0 ? { 'is not answered': () => ((patience -= 1), 'lost') } : {}),
          })
          const lands = () => {
            if (!ranges.has(first)) ranges.set(first, { to, by, items: items.map(({ item }) => item) })
            fate = ranges.get(first)?.by === by
          }
          const dropped = plan === 'lost' ? { 'is dropped': () => {} } : {}
          void stage.step(`${by}'s wire`, `${first} to ${to}`, { lands, ...dropped })
          if (plan === 'lost') continue
          await stage.step(worker, 'is answered', { answered: () => {} }, { mayGo: () => fate !== null })
          return fate === true
        }
      },
    }
  }

  /** Works as long as nobody else passes the log, or dies. */
  async function work(worker: string, mayHaveSent: number, mayDie: () => boolean): Promise<void> {
    const store = storeOf(worker)
    const cursor = await takeOver(store, mayHaveSent)
    if (cursor === null) return
    const passage: Passage<Event> = { cursor, known: [] }
    for (let seq = knownTo(passage) + 1; seq <= events; seq++) addEvent(passage, store.isWanted(seq))
    for (let next = passage.cursor + 1; passage.cursor < events; ) {
      const to = mayBeSentTo(passage, ahead)
      for (; next <= to; next++) {
        if (!store.isWanted(next)) continue
        noteEvent(passage, next, { kind: 'accepted', item: next })
        const seq = next
        const send = { sent: () => void sent.set(seq, (sent.get(seq) ?? 0) + 1) }
        await stage.step(worker, `sends ${seq}`, send, { mayDie })
      }
      const range: NextRange<Event> | null = nextRange(passage, () => 0)
      if (range === null || !(await store.insertRange(range))) return
      passTo(passage, range.to)
    }
  }

  return {
    work,
    /** Takes the other worker for dead, rightly or not. */
    async takeFrom(worker: string) {
      await stage.step(worker, 'takes the endpoint', { taken: () => void (isTakenOver = true) })
      await work(worker, ahead, () => false)
    },
    stateOf: () => JSON.stringify([[...ranges], [...interrupted], [...sent], patience, isTakenOver]),
    broken(): string | null {
      for (const [seq, times] of sent) if (times > 1) return `attempt 1 of event ${seq} is made twice`
      for (let seq = 1; seq <= cursor(); seq++)
        if (seq !== 3 && !sent.has(seq) && !interrupted.has(seq))
          return `event ${seq} is passed and never sent`
      const stored = [...ranges].toSorted(([a], [b]) => a - b)
      for (const [index, [, { to }]] of stored.entries()) {
        const following = stored[index + 1]
        if (following !== undefined && following[0] !== to + 1) return 'two ranges overlap'
      }
      return null
    },
    atEnd: () => (cursor() === events || !isTakenOver ? null : `the log is passed up to ${cursor()} alone`),
  }
}

function explore(mistake: Partial<Rules> = {}) {
  return exploreSchedules({
    statesMax,
    begin(stage): Run {
      const world = createWorld(stage, { ...rules, ...mistake })
      void world.work('D', 0, () => true)
      void world.takeFrom('E')
      return {
        stateOf: world.stateOf,
        broken: world.broken,
        brokenAtEnd: async () => world.broken() ?? world.atEnd(),
      }
    },
  })
}

for (const [lost, name] of ['', ', nor which answer is lost'].entries()) {
  await t.test(
    `no first attempt is made twice and no event is left out, whoever dies or seems to${name}`,
    async (t) => {
      const { states, ends, violation } = await explore({ lost })
      t.strictSame(violation, null)
      t.ok(ends > 10, `${states} states, ${ends} ends`)
      t.comment(`${states} states, ${ends} ends`)
    },
  )
}

t.test('a take-over counts so many events as sent as may have been, and no more', async (t) => {
  const stored: Event[] = []
  const cursor = await takeOverPassage<Event>(
    {
      readCursor: async () => 0,
      holdsLease: async () => true,
      readAfter: async (after) => Array.from({ length: events - after }, (_, index) => after + 1 + index),
      isWanted: (event) => event !== 3,
      storeInterrupted: async (seqs) => void stored.push(...seqs),
      insertRange: async () => true,
    },
    ahead + 1,
  )
  t.strictSame(stored, [1, 2, 4])
  t.equal(cursor, 4, 'and passes them')
})

/** Begins at the cursor, as if nothing had been sent after it. */
const withoutMarks: typeof takeOverPassage = (store) => takeOverPassage(store, 0)

/** Sends on before the range that passes the interrupted ones stands. */
const withoutRange: typeof takeOverPassage = (store, mayHaveSent) =>
  takeOverPassage({ ...store, insertRange: async () => true }, mayHaveSent)

/** Goes on behind its own marks although the range was another's. */
const withoutFence: typeof takeOverPassage = (store, mayHaveSent) =>
  takeOverPassage(
    {
      ...store,
      async insertRange(range) {
        await store.insertRange(range)
        return true
      },
    },
    mayHaveSent,
  )

/** Does not look whether the lease is another's by now. */
const withoutLease: typeof takeOverPassage = (store, mayHaveSent) =>
  takeOverPassage({ ...store, holdsLease: async () => true }, mayHaveSent)

const mistakes: Record<string, Partial<Rules>> = {
  'who begins does not read its lease after the cursor': { takeOver: withoutLease },
  'who takes over counts nothing as sent': { takeOver: withoutMarks },
  'who takes over sends on before its range stands': { takeOver: withoutRange },
  'who loses its range goes on all the same': { takeOver: withoutFence },
  'more is sent ahead of the cursor than a take-over counts': {
    sendableTo: (passage, most) => sendableTo(passage, most + 1),
  },
}
for (const [name, mistake] of Object.entries(mistakes)) {
  await t.test(`found: ${name}`, async (t) => {
    const { violation, states } = await explore(mistake)
    t.not(violation, null, `${states} states`)
  })
}
