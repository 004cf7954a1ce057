import { silentLogger } from '../fixtures/test-storage.ts'
import t from 'tap'
import { createDuties } from '../../src/journal/duties.ts'
import { entryNumber, streamKey, streamOf } from '../../src/journal/journal-keys.ts'
import type { Entry } from '../../src/journal/journal.ts'

const stream = streamKey('round')
const ended = 2
const over = 3

function entry(number: number): Entry<string> {
  const _id = `${stream}/${String(number).padStart(6, '0')}`
  const ev = [{ id: `evt_${number}`, subject: 'events.x', body: '{}' }]
  return { _id, w: `w${number}`, o: 'a', q: number, at: new Date(0), f: [`fact ${number}`], ev }
}

/** Duties on a clock that only `pass` moves, with a list and a sender that note what they get. */
function createWorld() {
  const entries: Entry<string>[] = []
  const lists: number[] = []
  const sent: string[] = []
  let nowMs = 0
  let timers: { readonly atMs: number; readonly work: () => void }[] = []
  const duties = createDuties<string>({
    read: async () => {
      const last = entries.length
      return { entries: [...entries], unclaimed: [], last, end: last, seenMs: nowMs }
    },
    list: async (_stream, listed) => void lists.push(entryNumber(listed.at(-1)?._id ?? '')),
    sender: {
      send: ({ entry: { _id } }) => void sent.push(`${streamOf(_id)} ${entryNumber(_id)}`),
      forget: () => undefined,
      start: () => async () => undefined,
    },
    further: [],
    mayCount: () => true,
    isOver: () => entries.length >= over,
    steadyMs: () => nowMs,
    after: (ms, work) => void timers.push({ atMs: nowMs + ms, work }),
    logger: silentLogger,
  })
  return {
    ...{ duties, lists, sent },
    add(number: number) {
      const added = entry(number)
      entries.push(added)
      duties.add(added, () => undefined)
    },
    async pass(ms: number) {
      nowMs += ms
      const due = timers.filter(({ atMs }) => atMs <= nowMs)
      timers = timers.filter(({ atMs }) => atMs > nowMs)
      for (const { work } of due) work()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

t.test(
  'a round whose wallet takes most of a second is listed once, and its events wait for that',
  async (t) => {
    const { duties, lists, sent, add, pass } = createWorld()
    add(1)
    await pass(900)
    t.strictSame([lists, sent], [[], []])
    add(ended)
    await duties.listed(stream, ended)
    await pass(5000)
    t.strictSame(lists, [ended], 'an update costs the database several times an insert')
    t.strictSame(sent, [`${stream} 1`, `${stream} 2`])
  },
)

t.test('events of a round whose end does not come go out after about a second', async (t) => {
  const { lists, sent, add, pass } = createWorld()
  add(1)
  await pass(1100)
  t.strictSame([lists, sent], [[1], [`${stream} 1`]])
})

t.test('what ends a stream is listed at once, though nobody asks for it', async (t) => {
  const { lists, sent, add, pass } = createWorld()
  add(1)
  add(2)
  await pass(10)
  t.strictSame(lists, [])
  add(over)
  await pass(10)
  t.strictSame([lists, sent], [[over], [1, 2, 3].map((number) => `${stream} ${number}`)])
})
