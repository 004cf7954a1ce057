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
import { claimKey, entryId, streamKey, streamOf as streamOfEntry } from '../../src/journal/journal-keys.ts'
import { createOwnEntries, type OwnEntries } from '../../src/journal/own-entries.ts'

/*
 * Appends with their claims, in every order in which each document can land, be answered late or never, and
 * processes can die: processes open a round of one chain under the same nonce, and one takes over what
 * another has begun, or what it has given up itself. Whoever takes a stake stands for what the product does
 * with an entry that it believes in.
 */

type Fact = 'opened' | 'adopted' | 'ended'
type Rules = {
  adopt: typeof adopt
  store: (store: JournalStore<Fact>, table: Table) => JournalStore<Fact>
}
type Table = Map<string, JournalDocument<Fact>>

const rules: Rules = { adopt, store: (store) => store }
const statesMax = 8_000
const deadline = Number.POSITIVE_INFINITY
const time = new Date('2026-11-28T12:00:00.000Z')
const chain = ['account', 'dice', 'player']

/** What may happen besides, once each. */
type Troubles = {
  readonly givesUp?: boolean
  readonly sendsTwice?: boolean
  /** Whether a process knows at once that it was judged dead, as its lease says. */
  readonly hasLease?: boolean
}

/** One chain and the wallet; what outlives the processes. */
function createWorld(stage: Stage, { store: mistaken, adopt: take }: Rules, troubles: Troubles) {
  const table: Table = new Map()
  const taken = new Set<string>()
  const voided = new Set<string>()
  /** Streams that somebody has taken over and found to count. */
  const driven = new Set<string>()
  const judged = new Set<string>()
  /** A process that waits no longer for one of its inserts, and an insert that is sent once more. */
  let patience = troubles.givesUp === true ? 1 : 0
  let copies = troubles.sendsTwice === true ? 1 : 0
  const processes = new Map<string, ReturnType<typeof startProcess>>()

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
            ...(copies > 0 ? { 'sends twice': () => ((copies -= 1), 'sends twice') } : {}),
          })
          documents.forEach((document, index) => {
            const lands = () => {
              fates[index] = table.has(document._id) ? 'present' : 'inserted'
              if (fates[index] === 'inserted') table.set(document._id, document)
            }
            const drops = plan === 'gives up' ? { 'is dropped': () => {} } : {}
            void stage.step(`${wire}, ${index}`, document._id, { lands, ...drops })
            const copy = () => void (table.has(document._id) || table.set(document._id, document))
            if (plan === 'sends twice')
              void stage.step(`${wire}, copy ${index}`, document._id, { lands: copy })
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

  function startProcess(process: string) {
    let writes = 0
    let steadyMs = 0
    const store = storeOf(process)
    const newWrite = () => `${process}${++writes}`
    const own: OwnEntries<Fact> = createOwnEntries<Fact>({
      ...{ o: process, store, capacity: 100, steadyMs: () => steadyMs },
      duties: { add: () => undefined },
      blank: (_id) => ({ _id, w: newWrite(), o: process, q: own.next(), at: time, f: [] }),
    })
    const journal: Journal<Fact> = {
      store,
      memory: new BoundedMap(100),
      nextWriter: async () => (judged.has(process) ? null : { o: process, q: own.next() }),
      instance: () => (judged.has(process) ? null : process),
      settled: (entry, fate) => own.settled(entry, fate),
      newWrite,
      now: () => time,
      steadyMs: () => steadyMs,
      async pause() {
        await stage.step(process, 'pauses', { paused: () => {} }, { mayGo: () => false, whenIdle: true })
        steadyMs += 1001
      },
    }
    return {
      journal,
      async closeLost() {
        await stage.step(process, 'waits two seconds', { waited: () => {} })
        steadyMs += 2000
        return own.closeLost()
      },
    }
  }

  function processOf(process: string) {
    const present = processes.get(process) ?? startProcess(process)
    processes.set(process, present)
    return present
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
    const journal = processOf(process).journal
    for (let attempt = 1; attempt <= 2; attempt++) {
      const stream = streamOf(process, attempt)
      const opened = await append(
        journal,
        stream,
        0,
        { facts: ['opened'], claims: claimsOf(process) },
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

  /** Opens a round under nonce 1, and takes it back: its claims are free again. */
  async function takeBack(process: string): Promise<void> {
    const journal = processOf(process).journal
    const [stream, claims] = [streamOf(process, 1), claimsOf(process)]
    const opened = await append(journal, stream, 0, { facts: ['opened'], claims }, deadline)
    if (opened.kind !== 'appended') return
    const withdraws = { entry: opened.entry, claims }
    await append(journal, stream, 1, { facts: ['ended'], withdraws }, deadline)
  }

  /** Plays, and drives itself what turns out to stand of what it has given up. */
  async function playAndWatch(process: string): Promise<void> {
    await play(process)
    for (const stream of await processOf(process).closeLost()) await takeStream(process, stream, process)
  }

  /** Judges `owner` dead, rightly or not, and takes its first round over. */
  async function takeOver(process: string, owner: string): Promise<void> {
    if (troubles.hasLease === true)
      await stage.step(process, `judges ${owner} dead`, { judged: () => void judged.add(owner) })
    return takeStream(process, streamOf(owner, 1), owner)
  }

  async function takeStream(process: string, stream: string, owner: string): Promise<void> {
    const { journal } = processOf(process)
    journal.memory.delete(stream)
    const { entries } = await load(journal, stream)
    if (isOver(entries)) return
    const adopted = await take(
      journal,
      stream,
      { adopted: 'adopted', claimsOf: ({ f }) => (f.includes('opened') ? claimsOf(owner) : []) },
      deadline,
    )
    if (adopted.kind !== 'appended' || isOver((await load(journal, stream)).entries)) return
    driven.add(stream)
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
  const isVoid = (stream: string) => entriesOf(stream).some(({ wd }) => wd === 1)

  return {
    play,
    takeBack,
    playAndWatch,
    takeOver,
    stateOf: () =>
      JSON.stringify([
        [...table.values()].map(({ _id, w }) => `${_id} ${w}`).sort(),
        [...taken],
        [...voided],
        [...driven],
        [...judged],
        ...[patience, copies],
      ]),
    broken(): string | null {
      if (taken.size > 1) return 'two rounds of one nonce have their stakes taken'
      for (const stream of taken) {
        const [opened] = entriesOf(stream)
        if (isVoid(stream)) return 'a round is void whose stake is taken'
        if (table.get(claimKey('n', chain, '1'))?.w !== opened?.w) return 'a stake is taken without its nonce'
      }
      for (const stream of driven) {
        if (isVoid(stream)) return 'a round is void that was taken over and goes on'
      }
      for (const document of table.values()) {
        if ('f' in document && facts(document._id.slice(0, -7)).filter((fact) => fact === 'ended').length > 1)
          return 'a round has ended twice'
      }
      return null
    },
    /** Of streams whose owner lives and watches. */
    unfinished(): string | null {
      const streams = new Set(
        [...table.values()].flatMap((each) => ('f' in each ? streamOfEntry(each._id) : [])),
      )
      const open = [...streams].find(
        (stream) => facts(stream).includes('opened') && !facts(stream).includes('ended') && !isVoid(stream),
      )
      return open === undefined ? null : `${open} is unfinished and has no owner`
    },
  }
}

type World = ReturnType<typeof createWorld>

/** Of the entries that count. */
function isOver(entries: readonly Entry<Fact>[]): boolean {
  const has = (fact: Fact) => entries.some(({ f }) => f.includes(fact))
  return !has('opened') || has('ended')
}

type Scenario = {
  readonly begin: (world: World) => void
  readonly isWatched?: boolean
  /** Of a scenario in which every order is tried. */
  readonly isWhole?: boolean
} & Troubles

function explore(
  { begin, isWatched = false, isWhole = false, ...troubles }: Scenario,
  mistake: Partial<Rules> = {},
) {
  return exploreSchedules({
    statesMax: isWhole ? Number.POSITIVE_INFINITY : statesMax,
    begin(stage): Run {
      const world = createWorld(stage, { ...rules, ...mistake }, troubles)
      begin(world)
      return {
        stateOf: world.stateOf,
        broken: world.broken,
        brokenAtEnd: async () => world.broken() ?? (isWatched ? world.unfinished() : null),
      }
    },
  })
}

const twoPlay: Scenario = {
  begin(world) {
    void world.play('A')
    void world.play('B')
  },
  givesUp: true,
}
const oneIsTakenOver: Scenario = {
  begin(world) {
    void world.play('A', { mayDie: () => true })
    void world.takeOver('B', 'A')
  },
  givesUp: true,
}
const oneIsSentTwice: Scenario = { ...oneIsTakenOver, givesUp: false, sendsTwice: true }
const threePlay: Scenario = {
  begin(world) {
    for (const process of ['A', 'B', 'C']) void world.play(process)
  },
}
const twoTakeOver: Scenario = {
  begin(world) {
    void world.play('A')
    void world.takeOver('B', 'A')
    void world.takeOver('C', 'A')
  },
}
const oneGivesUp: Scenario = {
  begin: (world) => void world.playAndWatch('A'),
  givesUp: true,
  isWatched: true,
}
const oneIsTakenBack: Scenario = {
  begin(world) {
    void world.takeBack('A')
    void world.play('B')
    void world.takeOver('C', 'B')
  },
  hasLease: true,
  isWhole: true,
}
const scenarios = {
  oneIsTakenBack,
  twoPlay,
  oneIsTakenOver,
  oneIsSentTwice,
  threePlay,
  twoTakeOver,
  oneGivesUp,
}

for (const [name, scenario] of Object.entries(scenarios)) {
  await t.test(`${name}: a nonce has one round, and what is void is never taken`, async (t) => {
    const { states, ends, violation } = await explore(scenario)
    t.strictSame(violation, null)
    t.ok(ends > 2, `${states} states, ${ends} ends`)
    t.comment(`${states} states, ${ends} ends`)
  })
}

/** Reads the claims of what it takes over, where it should insert them again. */
const adoptByReading: typeof adopt = async (journal, stream, { adopted, claimsOf }, untilMs) => {
  const { entries, last } = await load(journal, stream)
  const appended = await append(journal, stream, last, { facts: [adopted] }, untilMs)
  const [intent] = entries
  if (appended.kind === 'claimed') throw new Error('claimed')
  if (appended.kind !== 'appended' || intent === undefined) return appended
  const claims = claimsOf(intent)
  const standing = await journal.store.read(claims.map(({ key }) => key))
  const isOwn = standing.length === claims.length && standing.every(({ w }) => w === intent.w)
  const end = { _id: entryId(stream, last + 2), w: 'void', o: 'B', q: 1, at: time, f: [], wd: 1 }
  if (!isOwn) await journal.store.insert([end], untilMs)
  journal.memory.delete(stream)
  return appended
}

const mistakes: Record<string, { scenario: Scenario; mistake: Partial<Rules> }> = {
  'a claim that is missing when it is read decides': {
    scenario: oneIsTakenOver,
    mistake: { adopt: adoptByReading },
  },
  'who withdraws removes claims that are not its own': {
    scenario: twoPlay,
    mistake: {
      store: (store, table) => ({
        ...store,
        removeClaim: (id) => store.removeClaim(id, table.get(id)?.w ?? ''),
      }),
    },
  },
  'a document that was there already counts as its own': {
    scenario: twoPlay,
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
  'a lost append that does not stand counts as one that never will': {
    scenario: oneGivesUp,
    mistake: {
      store: (store, table) => ({
        ...store,
        insert: (documents, untilMs) =>
          documents.every((each) => 'f' in each && each.f.length === 0)
            ? Promise.resolve(documents.map(({ _id }) => (table.has(_id) ? 'present' : 'inserted')))
            : store.insert(documents, untilMs),
      }),
    },
  },
  'who gives an append up forgets it': {
    scenario: oneGivesUp,
    mistake: {
      store: (store) => ({
        ...store,
        async insert(documents, untilMs) {
          const landed = await store.insert(documents, untilMs)
          return landed === 'unknown' ? documents.map(() => 'present') : landed
        },
      }),
    },
  },
}
for (const [name, { scenario, mistake }] of Object.entries(mistakes)) {
  await t.test(`found: ${name}`, async (t) => {
    const { violation, states } = await explore(scenario, mistake)
    t.not(violation, null, `${states} states`)
  })
}
