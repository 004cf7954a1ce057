import { exploreSchedules, type Run, type Stage } from '@pitboss/testing/explore-schedules'
import t from 'tap'
import { type Batch, fold, type Sum, type SumStore } from '../../src/journal/fold.ts'
import type { Entry } from '../../src/journal/journal.ts'

/*
 * Two entries of process A, which land in any order, counted into a sum by A, by processes that judge A dead,
 * rightly or not, and again by each of them; A may stand still or die at each step. The cursor of A leaves
 * the sum once A is recovered.
 */

type Counts = Sum & { readonly counted: Readonly<Record<string, number>> }
type Rules = {
  /** What a process that recovers takes as able to land yet. */
  missing: (numbers: readonly number[]) => readonly number[]
  /** Whether A counts past an append whose fate it does not know. */
  countsPastOpen: boolean
  store: (store: SumStore<Counts>) => SumStore<Counts>
}

const rules: Rules = { missing: (numbers) => numbers, countsPastOpen: false, store: (store) => store }
const numbers = [1, 2]
const entryOf = (q: number): Entry<string> => ({
  _id: `stream${q}/000001`,
  w: `w${q}`,
  o: 'A',
  q,
  at: new Date(0),
  f: ['played'],
})

function createWorld(stage: Stage, { missing, countsPastOpen, store: mistaken }: Rules) {
  const landed = new Set<number>()
  const dropped = new Set<number>()
  const known = new Set(['A'])
  let sums = new Map<string, Counts>()
  let recovered = 0
  const isDecided = (q: number) => landed.has(q) || dropped.has(q)

  const storeOf = (process: string): SumStore<Counts> =>
    mistaken({
      read: (id) => stage.step(process, `reads ${id}`, { read: () => sums.get(id) ?? null }),
      readKnown: () => stage.step(process, 'reads instances', { read: () => [...known] }),
      write: (sum) =>
        stage.step(process, `writes ${sum._id}`, {
          written() {
            if ((sums.get(sum._id)?.version ?? 0) !== sum.version - 1) return false
            sums = new Map([...sums, [sum._id, sum]])
            return true
          },
        }),
    })

  const count = (process: string, batch: Batch<string>) =>
    fold(storeOf(process), 'sum', batch, (sum, entries) => {
      const counted = { ...sum?.counted }
      for (const { q } of entries) counted[q] = (counted[q] ?? 0) + 1
      return { counted }
    })

  /** What A has on the wire. */
  function send(): void {
    for (const q of numbers) {
      const drops = q === 1 ? { 'is dropped': () => void dropped.add(q) } : {}
      void stage.step(`wire ${q}`, 'lands', { lands: () => void landed.add(q), ...drops })
    }
  }

  /** Counts what A has appended in its order, no further than it knows. */
  async function live(): Promise<void> {
    const order = countsPastOpen ? numbers.toReversed() : numbers
    for (const q of order) {
      const stands = await stage.step(
        'A',
        `is answered for ${q}`,
        { answered: () => landed.has(q) },
        { mayGo: () => isDecided(q), mayDie: () => true },
      )
      if (stands) await count('A', { entries: [entryOf(q)], missing: [] })
    }
  }

  /** Reads what A has written, counts it, and does so once more when all has landed that will. */
  async function recover(process: string): Promise<void> {
    for (const scan of [1, 2]) {
      const found = await stage.step(
        process,
        `scans for the ${scan}. time`,
        { found: () => numbers.filter((q) => landed.has(q)) },
        { mayGo: () => scan === 1 || numbers.every(isDecided) },
      )
      const [first, ...others] = found.map(entryOf)
      const gaps = numbers.filter((q) => !found.includes(q) && q < (found.at(-1) ?? 0))
      if (first !== undefined) await count(process, { entries: [first, ...others], missing: missing(gaps) })
    }
    await stage.step(process, 'says that A is recovered', {
      said: () => {
        recovered += 1
        known.delete('A')
      },
    })
  }

  /** Removes the cursors of A, as any fold does that finds them of no use. */
  async function tidy(): Promise<void> {
    const store = storeOf('tidy')
    const gone = { mayGo: () => !known.has('A') }
    await stage.step('tidy', 'sees that A is gone', { seen: () => {} }, gone)
    const sum = await store.read('sum')
    if (sum !== null) await store.write({ ...sum, cursors: {}, version: sum.version + 1 })
  }

  const countsOf = (q: number) => sums.get('sum')?.counted[q] ?? 0
  return {
    send,
    live,
    recover,
    tidy,
    stateOf: () => JSON.stringify([[...landed], [...dropped], [...known], [...sums]]),
    broken: () => (numbers.some((q) => countsOf(q) > 1) ? 'an entry is counted twice' : null),
    async brokenAtEnd() {
      if (recovered === 0) return null
      return numbers.some((q) => landed.has(q) && countsOf(q) !== 1) ? 'an entry is not counted' : null
    },
  }
}

type World = ReturnType<typeof createWorld>

const oneRecovers = (world: World) => {
  world.send()
  void world.live()
  void world.recover('B')
  void world.tidy()
}
const twoRecover = (world: World) => {
  world.send()
  void world.recover('B')
  void world.recover('C')
  void world.tidy()
}

function explore(begin: (world: World) => void, mistake: Partial<Rules> = {}) {
  return exploreSchedules({
    statesMax: 40_000,
    begin(stage): Run {
      const world = createWorld(stage, { ...rules, ...mistake })
      begin(world)
      return world
    },
  })
}

for (const [name, begin] of Object.entries({ oneRecovers, twoRecover })) {
  await t.test(`${name}: each entry is counted once, whenever it lands`, async (t) => {
    const { states, ends, violation } = await explore(begin)
    t.strictSame(violation, null)
    t.ok(ends > 10, `${states} states, ${ends} ends`)
    t.comment(`${states} states, ${ends} ends`)
  })
}

const mistakes: Record<string, { begin: (world: World) => void; mistake: Partial<Rules> }> = {
  'an entry that lands below the cursor counts as counted': {
    begin: twoRecover,
    mistake: { missing: () => [] },
  },
  'a process counts past an append whose fate is open': {
    begin: oneRecovers,
    mistake: { countsPastOpen: true },
  },
  'an instance that is gone is counted again': {
    begin: twoRecover,
    mistake: { store: (store) => ({ ...store, readKnown: async () => ['A'] }) },
  },
  'a process that is judged dead counts on': {
    begin: oneRecovers,
    mistake: { store: (store) => ({ ...store, readKnown: async () => ['A'] }) },
  },
  'a sum is written over another version': {
    begin: twoRecover,
    mistake: {
      store: (store) => ({
        ...store,
        async write(sum) {
          const present = await store.read(sum._id)
          return store.write({ ...sum, version: (present?.version ?? 0) + 1 })
        },
      }),
    },
  },
}
for (const [name, { begin, mistake }] of Object.entries(mistakes)) {
  await t.test(`found: ${name}`, async (t) => {
    const { violation, states } = await explore(begin, mistake)
    t.not(violation, null, `${states} states`)
    t.comment(`${states} states`)
  })
}
