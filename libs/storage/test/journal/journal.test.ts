import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Db } from 'mongodb'
import t from 'tap'
import {
  adopt,
  append,
  type Appended,
  change,
  type Entry,
  type Journal,
  type JournalDocument,
  load,
} from '../../src/journal/journal.ts'
import { claimedOwn, claimKey, claimsOf, entryId, streamKey } from '../../src/journal/journal-keys.ts'
import { mongodbJournal } from '../../src/journal/mongodb-journal.ts'
import { testStorage } from '../fixtures/test-storage.ts'

type Fact = { raised: number } | 'opened' | 'adopted' | 'withdrawn'
type Kind = Appended<Fact>['kind']

/** A process with a journal over the collection `journal`, and a clock that the test moves. */
function createProcess(db: Db, instance: string) {
  let number = 0
  const time = { steadyMs: 0 }
  const reads: string[] = []
  const store = mongodbJournal<Fact>(db)
  const journal: Journal<Fact> = {
    store: {
      ...store,
      readEntries(stream) {
        reads.push(stream)
        return store.readEntries(stream)
      },
    },
    memory: new BoundedMap(1000),
    nextWriter: async () => ({ o: instance, q: ++number }),
    instance: () => instance,
    settled: () => undefined,
    newWrite: () => randomBytes(8).toString('hex'),
    now: () => new Date(),
    steadyMs: () => time.steadyMs,
    pause: (ms) => pause(ms),
  }
  return { journal, instance, reads, time }
}

const soon = () => performance.now() + 30_000
const count = (kinds: readonly Kind[], kind: Kind) => kinds.filter((each) => each === kind).length

await t.test('a journal on a real engine', async (t) => {
  const { db } = await testStorage(t)

  await t.test('of those who race for a number one has it, and each is told rightly', async (t) => {
    const processes = ['a', 'b', 'c', 'd'].map((name) => createProcess(db, name))
    const streams = Array.from({ length: 200 }, (_, index) => streamKey('race', String(index)))
    const told = await Promise.all(
      streams.map((stream) =>
        Promise.all(
          processes.map(({ journal }) => append(journal, stream, 0, { facts: ['opened'] }, soon())),
        ),
      ),
    )
    for (const [index, answers] of told.entries()) {
      const kinds = answers.map(({ kind }) => kind)
      const [entry] = (await load(createProcess(db, 'reader').journal, streams[index] ?? '')).entries
      const winner = answers.findIndex(({ kind }) => kind === 'appended')
      if (count(kinds, 'appended') !== 1 || count(kinds, 'taken') !== 3 || entry?.o !== 'abcd'[winner])
        t.fail(`${streams[index]}: ${kinds.join(', ')}, stored ${entry?.o}`)
    }
  })

  await t.test('who loses a claim is withdrawn, and leaves the claims of the other', async (t) => {
    const processes = ['a', 'b'].map((name) => createProcess(db, name))
    const nonce = claimKey('n', ['account', 'dice', 'player'], '1')
    const answers = await Promise.all(
      processes.map(({ journal, instance }) =>
        append(
          journal,
          streamKey('claim', instance),
          0,
          {
            facts: ['opened'],
            claims: [{ key: nonce }, { key: claimKey('t', ['account'], `of ${instance}`) }],
          },
          soon(),
        ),
      ),
    )
    t.strictSame(answers.map(({ kind }) => kind).toSorted(), ['appended', 'claimed'])
    const winner = answers.findIndex(({ kind }) => kind === 'appended')
    const claims = await db
      .collection<JournalDocument<Fact>>('journal')
      .find({ _id: /^[nt]\// })
      .toArray()
    const won = streamKey('claim', 'ab'[winner] ?? '')
    t.strictSame(
      claims.map((claim) => 's' in claim && claim.s),
      [won, won],
    )
    const lost = await load(createProcess(db, 'reader').journal, streamKey('claim', 'ab'[1 - winner] ?? ''))
    t.match(
      lost,
      { entries: [], unclaimed: [], last: 2 },
      'its entry counts for nobody, and its number is taken',
    )
  })

  await t.test(
    'claims of an entry that is withdrawn are free, also where a crash has left them',
    async (t) => {
      const [a, b] = [createProcess(db, 'a').journal, createProcess(db, 'b').journal]
      const claims = [{ key: claimKey('t', ['account'], 'withdrawn') }]
      const opening = { facts: ['opened'], claims } as const
      const opened = await append(a, streamKey('withdrawn', 'a'), 0, opening, soon())
      if (opened.kind !== 'appended') return t.fail(opened.kind)
      t.equal((await append(b, streamKey('withdrawn', 'b'), 0, opening, soon())).kind, 'claimed')
      const { entry } = opened
      await append(
        a,
        streamKey('withdrawn', 'a'),
        1,
        { facts: ['withdrawn'], withdraws: { entry, claims } },
        soon(),
      )
      const [claim] = await a.store.read([claims[0]?.key ?? ''])
      t.equal(claim, undefined)
      // As a crash between the withdrawal and the removal leaves it.
      await a.store.insert(
        [{ _id: claims[0]?.key ?? '', w: entry.w, s: streamKey('withdrawn', 'a'), n: 1, at: entry.at }],
        soon(),
      )
      t.equal((await append(b, streamKey('withdrawn', 'c'), 0, opening, soon())).kind, 'appended')
    },
  )

  await t.test('an entry whose claim is not its own counts for nobody', async (t) => {
    const [a, b] = [createProcess(db, 'a').journal, createProcess(db, 'b').journal]
    const key = claimKey('t', ['account'], 'on its way')
    const known = new BoundedMap<string, true>(10)
    const ofOpened = ({ f }: Entry<Fact>) => (f.includes('opened') ? [{ key }] : [])
    const reader = { ...b, claims: { of: ofOpened, known } }
    const stream = streamKey('unclaimed')
    const entry = { _id: entryId(stream, 1), w: 'w1', o: 'a', q: 1, at: new Date(), f: ['opened' as const] }
    await a.store.insert([entry], soon())
    const seen = await load(reader, stream)
    const undecided = { entries: [], unclaimed: [{ _id: entry._id }], last: 0, end: 1 }
    t.match(seen, undecided, 'its claim may be on its way')
    // Nobody appends after it before that is decided.
    const { promise: paused, resolve: pauses } = Promise.withResolvers<void>()
    const { promise: goesOn, resolve: go } = Promise.withResolvers<void>()
    const pause = () => (pauses(), goesOn)
    const states: number[] = []
    const changing = change(
      { ...reader, pause },
      stream,
      {
        none: 0,
        evolve: (count) => count + 1,
        decide(count) {
          states.push(count)
          return { facts: [{ raised: 1 }] }
        },
      },
      soon(),
    )
    await paused
    await a.store.insert([{ _id: key, w: 'w1', s: stream, n: 1, at: entry.at }], soon())
    go()
    t.match(await changing, { kind: 'changed', entry: { _id: entryId(stream, 2) } })
    t.equal(states.at(-1), 1, 'and what it says counts then')
    t.match(await load(b, stream), { entries: [{ _id: entry._id }, {}], unclaimed: [], last: 2, end: 2 })
  })

  await t.test(
    'two entries of a stream that claim the same id: one counts, whichever came first',
    async (t) => {
      const key = claimKey('t', ['account'], 'twice')
      const known = new BoundedMap<string, true>(10)
      const claims = { of: ({ f }: Entry<Fact>) => (f.includes('opened') ? [{ key }] : []), known }
      const { journal } = createProcess(db, 'a')
      const stream = streamKey('twice')
      // As a write whose answer is lost leaves it: the entry stands, and its claim is on its way.
      const early = { _id: entryId(stream, 1), w: 'w1', o: 'b', q: 1, at: new Date(), f: ['opened' as const] }
      await journal.store.insert([early], soon())
      const reader = { ...journal, claims }
      const later = await append(reader, stream, 1, { facts: ['opened'], claims: [{ key }] }, soon())
      t.equal(later.kind, 'appended')
      await append(reader, stream, 2, { facts: [{ raised: 1 }] }, soon())
      const adopting = { adopted: 'adopted' as const, claimsOf: claims.of }
      t.equal((await adopt(createReader(), stream, adopting, soon())).kind, 'appended')
      const { entries, unclaimed } = await load(createReader(), stream)
      t.strictSame([entries.flatMap(({ f }) => f), unclaimed], [['opened', { raised: 1 }, 'adopted'], []])

      function createReader() {
        return { ...createProcess(db, 'c').journal, claims }
      }
    },
  )

  await t.test('a claim whose entry can land no more is free at once', async (t) => {
    const [a, b] = [createProcess(db, 'a').journal, createProcess(db, 'b').journal]
    const claims = [{ key: claimKey('t', ['account'], 'left over') }]
    const opening = { facts: ['opened'], claims } as const
    const left = { _id: claims[0]?.key ?? '', w: 'lost', n: 1, at: new Date() }
    await a.store.insert([{ ...left, s: streamKey('left over', 'b') }], soon())
    t.equal((await append(b, streamKey('left over', 'b'), 0, opening, soon())).kind, 'appended')
    const [claim] = await b.store.read([left._id])
    t.match(claim, { s: streamKey('left over', 'b'), n: 1 })
    t.not(claim?.w, 'lost')
  })

  await t.test('the number of an entry that may still land is taken before its claim is', async (t) => {
    const [a, { journal: b, time }] = [createProcess(db, 'a').journal, createProcess(db, 'b')]
    const claims = [{ key: claimKey('t', ['account'], 'slow') }]
    const opening = { facts: ['opened'], claims } as const
    const stream = streamKey('slow', 'a')
    await a.store.insert([{ _id: claims[0]?.key ?? '', w: 'slow', s: stream, n: 1, at: new Date() }], soon())
    const pausing = { ...b, pause: async (ms: number) => void (time.steadyMs += ms) }
    t.equal((await append(pausing, streamKey('slow', 'b'), 0, opening, soon())).kind, 'appended')
    const late = { _id: entryId(stream, 1), w: 'slow', o: 'a', q: 9, at: new Date(), f: ['opened' as const] }
    t.strictSame(await a.store.insert([late], soon()), ['present'])
    t.match(await load(b, stream), { entries: [], last: 1 })
  })

  await t.test('changes of two processes at once are decided one after the other', async (t) => {
    const processes = ['a', 'b'].map((name) => createProcess(db, name))
    const stream = streamKey('sum')
    const sum = (state: number, { f }: { f: readonly Fact[] }) =>
      f.reduce((before, fact) => before + (typeof fact === 'object' ? fact.raised : 0), state)
    const raise = ({ journal }: (typeof processes)[number]) =>
      change(
        journal,
        stream,
        {
          none: 0,
          evolve: sum,
          decide: (state) => (state >= 10 ? null : { facts: [{ raised: 1 }] }),
        },
        soon(),
      )
    const all = await Promise.all(
      processes.map(async (process) => {
        const kinds: string[] = []
        for (let turn = 0; turn < 8; turn++) kinds.push((await raise(process)).kind)
        return kinds
      }),
    )
    t.equal(all.flat().filter((kind) => kind === 'changed').length, 10)
    const { entries, last } = await load(createProcess(db, 'reader').journal, stream)
    t.equal(last, 10)
    t.equal(entries.reduce(sum, 0), 10)
    t.strictSame(
      entries.map(({ _id }) => _id),
      Array.from({ length: 10 }, (_, index) => entryId(stream, index + 1)),
    )
  })

  await t.test('the last claims of an owner are read by their keys, and no other claims', async (t) => {
    const { journal } = createProcess(db, 'a')
    const owner = ['operator', 'player/1']
    const claims = ['1', '2', '9'].map((own) => ({ key: claimKey('n', owner, own) }))
    const others = [claimKey('n', ['operator', 'player/2'], '3'), claimKey('t', owner, '4')]
    const all = [...claims, ...others.map((key) => ({ key }))]
    await append(journal, streamKey('claims'), 0, { facts: ['opened'], claims: all }, soon())
    const read = async (own: string | null, max: number) =>
      (await journal.store.readClaims(claimsOf('n', owner, own), max)).map(({ _id }) => claimedOwn(_id))
    t.same(await read(null, 9), ['9', '2', '1'])
    t.same(await read(null, 1), ['9'])
    t.same(await read('9', 9), ['2', '1'], 'below one of them')
  })

  for (const slow of ['readEntries', 'read'] as const) {
    await t.test(
      `a read (${slow}) that is slower than an append of its process is not remembered`,
      async (t) => {
        const stream = streamKey('slow', slow)
        const key = claimKey('t', ['account'], `slow ${slow}`)
        const opening = { facts: ['opened'], claims: [{ key }] } as const
        await append(createProcess(db, 'b').journal, stream, 0, opening, soon())
        const known = new BoundedMap<string, true>(10)
        const claims = { of: ({ f }: Entry<Fact>) => (f.includes('opened') ? [{ key }] : []), known }
        const journal = { ...createProcess(db, 'a').journal, claims }
        const { promise: answer, resolve: comes } = Promise.withResolvers<void>()
        const { promise: asked, resolve: asks } = Promise.withResolvers<void>()
        const held = async <Result>(read: Promise<Result>): Promise<Result> => {
          const result = await read
          asks()
          await answer
          return result
        }
        const { store } = journal
        const slowly = {
          readEntries: (one: string) => held(store.readEntries(one)),
          read: (ids: readonly string[]) => held(store.read(ids)),
        }
        const loading = load({ ...journal, store: { ...store, [slow]: slowly[slow] } }, stream)
        await asked
        // The process does not remember the entry before it.
        await append(journal, stream, 1, { facts: [{ raised: 1 }] }, soon())
        comes()
        t.equal((await loading).last, 2, 'it is read again')
        t.equal((await load(journal, stream)).last, 2)
      },
    )
  }

  await t.test('a stream is remembered for half a minute, and read again then', async (t) => {
    const { journal, reads, time } = createProcess(db, 'a')
    const other = createProcess(db, 'b')
    const stream = streamKey('memory')
    await append(journal, stream, 0, { facts: ['opened'] }, soon())
    await append(other.journal, stream, 1, { facts: [{ raised: 1 }] }, soon())
    t.equal((await load(journal, stream)).last, 1)
    t.strictSame(reads, [], 'what it wrote itself it knows')
    const answer = await append(journal, stream, 1, { facts: ['withdrawn'] }, soon())
    t.equal(answer.kind, 'taken', 'the number judges, not the memory')
    t.equal((await load(journal, stream)).last, 2)
    t.equal((await load(journal, stream)).last, 2)
    t.equal(reads.length, 1)
    time.steadyMs += 30_000
    await load(journal, stream)
    t.equal(reads.length, 2)
  })
})

t.test('keys keep the parts of a name apart, whatever they hold', async (t) => {
  t.not(streamKey('a/b', 'c'), streamKey('a', 'b/c'))
  t.match(streamKey('a', 'b'), /^[0-9a-f]{2}\/a\/b$/)
  t.match(claimKey('t', ['a'], '../x'), /^t\/[0-9a-f]{2}\/a\/..%2Fx$/)
  t.throws(() => entryId('s', 0), RangeError)
  t.throws(() => entryId('s', 1_000_000), RangeError)
})
