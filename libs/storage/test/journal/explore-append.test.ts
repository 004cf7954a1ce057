import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { exploreSchedules, type Run, type Stage } from '@pitboss/testing/explore-schedules'
import t from 'tap'
import type { Landed } from '../../src/journal/group-commit.ts'
import {
  adopt,
  append,
  type Claim,
  type Entry,
  type Journal,
  type JournalDocument,
  type JournalStore,
  load,
} from '../../src/journal/journal.ts'
import { claimKey, streamKey } from '../../src/journal/journal-keys.ts'

/*
 * Appends with their claims, in every order in which each document can land, be answered late or never, and
 * processes can die: two processes open a round of one chain under the same nonce, and one takes over what the
 * other has begun. Whoever takes a stake stands for what the product does with an entry that it believes in.
 */

type Fact = 'opened' | 'adopted' | 'withdrawn' | 'ended'
type Rules = {
  adopt: typeof adopt
  store: (store: JournalStore<Fact>, table: Table) => JournalStore<Fact>
}
type Table = Map<string, JournalDocument<Fact>>

const rules: Rules = { adopt, store: (store) => store }
const statesMax = 40_000
const deadline = Number.POSITIVE_INFINITY
const time = new Date('2026-11-28T12:00:00.000Z')
const chain = ['account', 'dice', 'player']

/** One chain and the wallet; what outlives the processes. */
function createWorld(stage: Stage, { store: mistaken, adopt: take }: Rules) {
  const table: Table = new Map()
  const taken = new Set<string>()
  const voided = new Set<string>()
  /** A process that waits no longer for one of its inserts; one of them does. */
  let patience = 1

  /** The collection as `process` sees it: each document of an insert lands by itself. */
  function storeOf(process: string): JournalStore<Fact> {
    let sent = 0
    return mistaken(
      {
        async insert(documents) {
          const wire = `${process}'s wire ${++sent}`
          const fates = documents.map((): Landed | null => null)
          const mayGiveUp = patience > 0
          const plan = await stage.step(process, `sends ${documents.map(({ _id }) => _id).join(', ')}`, {
            waits: () => 'waits',
            ...(mayGiveUp ? { 'gives up': () => ((patience -= 1), 'gives up') } : {}),
          })
          documents.forEach((document, index) => {
            const lands = () => {
              fates[index] = table.has(document._id) ? 'present' : 'inserted'
              if (fates[index] === 'inserted') table.set(document._id, document)
            }
            const drops = plan === 'gives up' ? { 'is dropped': () => {} } : {}
            void stage.step(`${wire}, ${index}`, document._id, { lands, ...drops })
          })
          if (plan === 'gives up') return 'unknown'
          await stage.step(
            process,
            'is answered',
            { answered: () => {} },
            { mayGo: () => fates.every((fate) => fate !== null) },
          )
          return fates.map((fate) => fate ?? 'present')
        },
        readEntries: (stream) =>
          stage.step(process, `reads ${stream}`, {
            read: () =>
              [...table.values()]
                .filter((each): each is Entry<Fact> => each._id.startsWith(`${stream}/`))
                .toSorted((a, b) => (a._id < b._id ? -1 : 1)),
          }),
        read: (ids) =>
          stage.step(process, `reads ${ids.join(', ')}`, {
            read: () => ids.flatMap((id) => table.get(id) ?? []),
          }),
        readClaims: () => Promise.reject(new Error('no process here asks for the last claims')),
        readWritten: async () => [],
        removeClaim: (id, w) =>
          stage.step(process, `removes ${id}`, {
            removed: () => void (table.get(id)?.w === w && table.delete(id)),
          }),
      },
      table,
    )
  }

  function journalOf(process: string): Journal<Fact> {
    let writes = 0
    let numbers = 0
    let steadyMs = 0
    return {
      store: storeOf(process),
      memory: new BoundedMap(100),
      nextWriter: async () => ({ o: process, q: ++numbers }),
      instance: () => process,
      settled: () => undefined,
      newWrite: () => `${process}${++writes}`,
      now: () => time,
      steadyMs: () => steadyMs,
      async pause() {
        await stage.step(process, 'pauses', { paused: () => {} }, { mayGo: () => false, whenIdle: true })
        steadyMs += 1001
      },
    }
  }

  const claimsOf = (owner: string): Claim[] => [
    { key: claimKey('n', chain, '1') },
    { key: claimKey('t', chain, `order of ${owner}`) },
  ]
  const streamOf = (owner: string, attempt: number) => streamKey(...chain, '1', `${owner}${attempt}`)

  /** Opens a round under nonce 1, takes its stake and ends it. */
  async function play(
    process: string,
    { mayDie = () => false }: { mayDie?: () => boolean } = {},
  ): Promise<void> {
    const journal = journalOf(process)
    for (let attempt = 1; attempt <= 2; attempt++) {
      const stream = streamOf(process, attempt)
      const opened = await append(
        journal,
        stream,
        0,
        { facts: ['opened'], claims: claimsOf(process), withdrawn: 'withdrawn' },
        deadline,
      )
      if (opened.kind === 'claimed') continue
      if (opened.kind !== 'appended') return
      await stage.step(process, `asks for the stake of ${stream}`, { asked: () => {} }, { mayDie })
      await stage.step(process, `takes the stake of ${stream}`, {
        taken: () => void (voided.has(stream) || taken.add(stream)),
      })
      return end(journal, stream)
    }
  }

  /** Judges `owner` dead, rightly or not, and takes its first round over. */
  async function takeOver(process: string, owner: string): Promise<void> {
    const journal = journalOf(process)
    const stream = streamOf(owner, 1)
    const { entries } = await load(journal, stream)
    if (entries.length === 0 || isOver(entries)) return
    const adopted = await take(
      journal,
      stream,
      { adopted: 'adopted', claimsOf: () => claimsOf(owner) },
      deadline,
    )
    if (adopted.kind === 'claimed') {
      const { last } = await load(journal, stream)
      await append(journal, stream, last, { facts: ['withdrawn'] }, deadline)
    }
    if (adopted.kind !== 'appended') return
    await stage.step(process, `asks that ${stream} is never taken`, {
      asked: () => void (taken.has(stream) || voided.add(stream)),
    })
    await end(journal, stream)
  }

  async function end(journal: Journal<Fact>, stream: string): Promise<void> {
    for (;;) {
      const { entries, last } = await load(journal, stream)
      if (isOver(entries)) return
      const ended = await append(journal, stream, last, { facts: ['ended'] }, deadline)
      if (ended.kind !== 'taken') return
    }
  }

  const entriesOf = (stream: string) =>
    [...table.values()].filter((each): each is Entry<Fact> => each._id.startsWith(`${stream}/`))
  const facts = (stream: string) => entriesOf(stream).flatMap(({ f }) => f)

  return {
    play,
    takeOver,
    stateOf: () =>
      JSON.stringify([
        [...table.values()].map(({ _id, w }) => `${_id} ${w}`).sort(),
        [...taken],
        [...voided],
        patience,
      ]),
    broken(): string | null {
      if (taken.size > 1) return 'two rounds of one nonce have their stakes taken'
      for (const stream of taken) {
        const [opened] = entriesOf(stream)
        if (facts(stream).includes('withdrawn')) return 'a round is withdrawn whose stake is taken'
        if (table.get(claimKey('n', chain, '1'))?.w !== opened?.w) return 'a stake is taken without its nonce'
      }
      for (const document of table.values()) {
        if ('f' in document && facts(document._id.slice(0, -7)).filter((fact) => fact === 'ended').length > 1)
          return 'a round has ended twice'
      }
      return null
    },
  }
}

type World = ReturnType<typeof createWorld>

function isOver(entries: readonly Entry<Fact>[]): boolean {
  return entries.some(({ f }) => f.includes('ended') || f.includes('withdrawn'))
}

function explore(begin: (world: World) => void, mistake: Partial<Rules> = {}) {
  return exploreSchedules({
    statesMax,
    begin(stage): Run {
      const world = createWorld(stage, { ...rules, ...mistake })
      begin(world)
      return { stateOf: world.stateOf, broken: world.broken, brokenAtEnd: async () => world.broken() }
    },
  })
}

const twoPlay = (world: World) => {
  void world.play('A')
  void world.play('B')
}
const oneIsTakenOver = (world: World) => {
  void world.play('A', { mayDie: () => true })
  void world.takeOver('B', 'A')
}

for (const [name, begin] of Object.entries({ twoPlay, oneIsTakenOver })) {
  await t.test(`${name}: a nonce has one round, and what was withdrawn is never taken`, async (t) => {
    const { states, ends, violation } = await explore(begin)
    t.strictSame(violation, null)
    t.ok(ends > 10, `${states} states, ${ends} ends`)
    t.comment(`${states} states, ${ends} ends`)
  })
}

/** Reads the claims of what it takes over, where it should insert them again. */
const adoptByReading: typeof adopt = async (journal, stream, { adopted, claimsOf }, untilMs) => {
  const { entries, last } = await load(journal, stream)
  const appended = await append(journal, stream, last, { facts: [adopted] }, untilMs)
  const [intent] = entries
  if (appended.kind !== 'appended' || intent === undefined) return appended
  const claims = claimsOf(intent)
  const standing = await journal.store.read(claims.map(({ key }) => key))
  if (standing.length === claims.length && standing.every(({ w }) => w === intent.w)) return appended
  return { kind: 'claimed', claim: { _id: claims[0]?.key ?? '', w: '', s: stream, n: 1, at: time } }
}

const mistakes: Record<string, { begin: (world: World) => void; mistake: Partial<Rules> }> = {
  'a claim that is missing when it is read decides': {
    begin: oneIsTakenOver,
    mistake: { adopt: adoptByReading },
  },
  'who withdraws removes claims that are not its own': {
    begin: twoPlay,
    mistake: {
      store: (store, table) => ({
        ...store,
        removeClaim: (id) => store.removeClaim(id, table.get(id)?.w ?? ''),
      }),
    },
  },
  'a document that was there already counts as its own': {
    begin: twoPlay,
    mistake: {
      store: (store) => ({
        ...store,
        async insert(documents, untilMs) {
          const landed = await store.insert(documents, untilMs)
          return landed === 'unknown' ? landed : landed.map(() => 'inserted')
        },
      }),
    },
  },
}
for (const [name, { begin, mistake }] of Object.entries(mistakes)) {
  await t.test(`found: ${name}`, async (t) => {
    const { violation, states } = await explore(begin, mistake)
    t.not(violation, null, `${states} states`)
  })
}
