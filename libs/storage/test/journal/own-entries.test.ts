import t from 'tap'
import type { Entry, JournalDocument, JournalStore } from '../../src/journal/journal.ts'
import { createOwnEntries, type OwnEntries } from '../../src/journal/own-entries.ts'

type Fact = 'played'

/** The entries of instance `A`, with duties that the test ends, over a map of documents. */
function startOwn({ capacity = 100 }: { capacity?: number } = {}) {
  const table = new Map<string, JournalDocument<Fact>>()
  const undone = new Map<string, () => void>()
  const added: number[] = []
  const time = { ms: 0, isDown: false }
  let writes = 0
  const insert = (document: JournalDocument<Fact>) => {
    if (table.has(document._id)) return 'present' as const
    table.set(document._id, document)
    return 'inserted' as const
  }
  const store: JournalStore<Fact> = {
    insert: async (documents) => (time.isDown ? 'unknown' : documents.map(insert)),
    read: async (ids) => ids.flatMap((id) => table.get(id) ?? []),
    readWritten: async (o, { after, limit }) =>
      [...table.values()]
        .filter((each): each is Entry<Fact> => 'q' in each && each.o === o && each.q > after)
        .toSorted((a, b) => a.q - b.q)
        .slice(0, limit),
    readEntries: () => Promise.reject(new Error('not asked for')),
    readClaims: () => Promise.reject(new Error('not asked for')),
    removeClaim: () => Promise.reject(new Error('not asked for')),
  }
  const own: OwnEntries<Fact> = createOwnEntries<Fact>({
    o: 'A',
    store,
    duties: {
      add(entry, finish) {
        added.push(entry.q)
        undone.set(entry._id, finish)
      },
    },
    capacity,
    blank(_id) {
      const entry: Entry<Fact> = { _id, w: `w${++writes}`, o: 'A', q: own.next(), at: new Date(0), f: [] }
      own.settled(entry, 'taken')
      return entry
    },
    steadyMs: () => time.ms,
  })
  return {
    own,
    table,
    added,
    time,
    begin(_id: string): Entry<Fact> {
      return { _id, w: `w${++writes}`, o: 'A', q: own.next(), at: new Date(0), f: ['played'] }
    },
    insert,
    finish(entry: Entry<Fact>) {
      undone.get(entry._id)?.()
      undone.delete(entry._id)
    },
    finishAll() {
      for (const finish of undone.values()) finish()
      undone.clear()
    },
  }
}

t.test('done rises in order over entries that are done, and over numbers that are another’s', async (t) => {
  const { own, begin, finish } = startOwn()
  const [a, b, c] = [begin('s1/000001'), begin('s2/000001'), begin('s3/000001')]
  t.match(own.progress(), { done: 0, last: 3 })
  own.settled(c, 'stands')
  finish(c)
  own.settled(b, 'taken')
  t.equal(own.progress().done, 0, 'the first is under way')
  t.notOk(own.knowsBelow(c))
  own.settled(a, 'stands')
  t.ok(own.knowsBelow(c))
  t.match(own.progress(), { done: 0, oldestAt: new Date(0) })
  finish(a)
  t.strictSame(own.progress(), { done: 3, last: 3, oldestAt: null })
})

t.test('an append of unknown fate that stands a moment later is driven, as its last', async (t) => {
  const { own, begin, insert, added, time } = startOwn()
  const late = begin('s1/000001')
  own.settled(late, 'unknown')
  time.ms += 1999
  t.strictSame(await own.closeLost(), [])
  insert(late)
  time.ms += 1
  t.strictSame(await own.closeLost(), ['s1'])
  t.strictSame(added, [late.q])
  t.ok(own.knowsBelow(late), 'its fate is known')
})

t.test('an append of unknown fate that does not stand can never land, and counts as done', async (t) => {
  const { own, begin, insert, added, table, time } = startOwn()
  const lost = begin('s1/000001')
  own.settled(lost, 'unknown')
  time.ms += 2000
  time.isDown = true
  t.strictSame(await own.closeLost(), [])
  t.equal(own.progress().done, 0, 'nothing is known while the database is away')
  time.isDown = false
  t.strictSame(await own.closeLost(), ['s1'])
  t.equal(own.progress().done, own.progress().last)
  t.equal(insert(lost), 'present', 'its late copy finds the number taken')
  t.match(table.get(lost._id), { o: 'A', f: [] })
  t.strictSame(added, [])
})

t.test('an append of unknown fate whose number is another’s counts as done', async (t) => {
  const { own, begin, insert, added, time } = startOwn()
  const lost = begin('s1/000002')
  own.settled(lost, 'unknown')
  insert({ ...lost, o: 'B', w: 'other', q: 1 })
  time.ms += 2000
  t.strictSame(await own.closeLost(), ['s1'])
  t.equal(own.progress().done, own.progress().last)
  t.strictSame(added, [])
})

t.test('entries that have no place in memory are read again when there is room', async (t) => {
  const { own, begin, insert, finishAll, added } = startOwn({ capacity: 4 })
  const entries = Array.from({ length: 10 }, (_, index) => begin(`s${index}/000001`))
  const [first, ...others] = entries
  if (first === undefined) return
  for (const entry of others.slice(0, 8)) {
    insert(entry)
    own.settled(entry, 'stands')
  }
  const after = Array.from({ length: 6 }, (_, index) => begin(`t${index}/000001`))
  for (const entry of after) {
    insert(entry)
    own.settled(entry, entry.q % 2 === 0 ? 'stands' : 'taken')
  }
  t.ok(added.length < 12, 'not all are in memory')
  insert(first)
  own.settled(first, 'stands')
  const last = others.at(-1)
  if (last !== undefined) own.settled(last, 'taken')
  t.equal(own.progress().done, 0)
  for (let turn = 0; turn < 10; turn++) {
    finishAll()
    await own.refill()
  }
  finishAll()
  t.strictSame(own.progress(), { done: 16, last: 16, oldestAt: null })
  const expected = [...entries.slice(0, 9), ...after].map(({ q }) => q)
  t.strictSame(
    [...new Set(added)].toSorted((a, b) => a - b),
    expected,
    'each has had its duties',
  )
})
