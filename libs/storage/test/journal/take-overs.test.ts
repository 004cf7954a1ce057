import { setImmediate } from 'node:timers/promises'
import { waitFor } from '@pitboss/testing/wait-for'
import { pino } from 'pino'
import t from 'tap'
import type { Entry } from '../../src/journal/journal.ts'
import { entryId, streamKey } from '../../src/journal/journal-keys.ts'
import { createRecovery } from '../../src/journal/recover.ts'
import { createTakeOvers } from '../../src/journal/take-overs.ts'

type Fact = 'opened' | 'adopted'

const stream = streamKey('taken', 'over')
const never = () => false

/** Take-overs of one process over a stream whose entries the test writes. */
function takingOver({
  entries,
  unclaimed = [],
}: Record<'entries', Entry<Fact>[]> & { unclaimed?: Entry<Fact>[] }) {
  const calls: string[] = []
  let failures = 1
  const takeOvers = createTakeOvers<Fact>({
    instances: { readKnown: async () => [] },
    duties: { add: () => undefined, listed: async () => undefined, listAll: async () => undefined } as never,
    async read() {
      const last = entries.length
      return { entries, unclaimed, last, end: last + unclaimed.length, seenMs: 0 }
    },
    isFinished: () => entries.length === 0,
    async takeOver(key) {
      calls.push(key)
      await setImmediate()
      entries.push(entryOf(entries.length + unclaimed.length + 1, 'own', 'adopted'))
      failures -= 1
      if (failures >= 0) throw new Error('its claims are not known')
    },
    current: () => 'own',
    unfinished: async () => [],
    steadyMs: () => 0,
    pause: async () => undefined,
    logger: pino({ level: 'silent' }),
  })
  return { takeOvers, calls }
}

function entryOf(number: number, o: string, fact: Fact): Entry<Fact> {
  return { _id: entryId(stream, number), w: `w${number}`, o, q: number, at: new Date(), f: [fact] }
}

await t.test('a take-over that failed after its entry is repeated until it succeeds', async (t) => {
  const { takeOvers, calls } = takingOver({ entries: [entryOf(1, 'dead', 'opened')] })
  t.match(await takeOvers.take([stream], (o) => o === 'dead', never), { taken: 0, failed: 1 })
  t.match(await takeOvers.take([stream], (o) => o === 'dead', never), { taken: 1, failed: 0 })
  t.strictSame(calls, [stream, stream])
  t.match(await takeOvers.take([stream], (o) => o === 'dead', never), { taken: 0, failed: 0 })
})

await t.test('a look at the stream meanwhile does not end its repetition', async (t) => {
  const { takeOvers, calls } = takingOver({ entries: [entryOf(1, 'dead', 'opened')] })
  const taking = takeOvers.take([stream], (o) => o === 'dead', never)
  // Who still counts the writer among the living looks and leaves it.
  const looking = takeOvers.take([stream], () => false, never)
  t.match(await Promise.all([taking, looking]), [{ failed: 1 }, { taken: 0 }])
  t.match(await takeOvers.take([stream], (o) => o === 'dead', never), { taken: 1, failed: 0 })
  t.strictSame(calls, [stream, stream])
})

await t.test('a take-over that a request has begun and failed at is repeated', async (t) => {
  const entries = [entryOf(1, 'dead', 'opened')]
  const { takeOvers, calls } = takingOver({ entries })
  const begun = takeOvers.taking(stream, async () => {
    entries.push(entryOf(2, 'own', 'adopted'))
    throw new Error('its claims are not known')
  })
  await t.rejects(begun, /not known/)
  t.match(await takeOvers.take([], () => false, never), { taken: 0, failed: 1 })
  t.match(await takeOvers.take([], () => false, never), { taken: 1, failed: 0 })
  t.strictSame(calls, [stream, stream])
  t.equal(await takeOvers.taking(stream, async () => 'done'), 'done')
  t.match(await takeOvers.take([], () => false, never), { taken: 0, failed: 0 })
})

await t.test('the end of an earlier take-over does not end the repetition of a later one', async (t) => {
  const entries = [entryOf(1, 'dead', 'opened')]
  const { takeOvers, calls } = takingOver({ entries })
  const first = Promise.withResolvers<void>()
  const earlier = takeOvers.taking(stream, () => first.promise)
  const later = takeOvers.taking(stream, async () => {
    entries.push(entryOf(2, 'own', 'adopted'))
    throw new Error('its claims are not known')
  })
  await t.rejects(later, /not known/)
  first.resolve()
  await earlier
  t.match(await takeOvers.take([], () => false, never), { failed: 1 })
  t.strictSame(calls, [stream])
})

/** Take-overs of one process over 264 streams of a dead one. The last four owe something. */
function takingMany({ fails = () => false }: { fails?: (key: string) => boolean } = {}) {
  const streams = Array.from({ length: 264 }, (_, at) => streamKey('waits', String(at)))
  const [open, owing] = [new Set(streams), streams.slice(-4)]
  const taken: string[] = []
  let nowMs = 0
  const rests: { readonly after: number; readonly ms: number }[] = []
  const takeOvers = createTakeOvers<Fact>({
    instances: { readKnown: async () => ['dead'] },
    duties: { listed: async () => undefined } as never,
    async read(key) {
      const entry = { ...entryOf(1, open.has(key) ? 'dead' : 'own', 'opened'), _id: entryId(key, 1) }
      return { entries: [entry], unclaimed: [], last: 1, end: 1, seenMs: 0 }
    },
    isFinished: () => false,
    async takeOver(key) {
      nowMs += 1
      if (fails(key)) throw new Error('it cannot be read')
      taken.push(key)
      open.delete(key)
    },
    current: () => 'own',
    unfinished: async (limit, _others, which) =>
      [...open].filter((key) => which === 'all' || owing.includes(key)).slice(0, limit),
    steadyMs: () => nowMs,
    async pause(ms) {
      rests.push({ after: streams.length - open.size, ms })
    },
    logger: pino({ level: 'silent' }),
  })
  return { takeOvers, streams, open, owing, taken, rests }
}

await t.test('what owes something comes first, and very many that wait leave room', async (t) => {
  const { takeOvers, open, owing, taken, rests } = takingMany()
  t.strictSame(await takeOvers.takeListed({ dead: 'dead', isOver: () => open.size < 40 }), {
    taken: 236,
    failed: 0,
  })
  t.strictSame(rests, [
    { after: 204, ms: 24 },
    { after: 220, ms: 48 },
    { after: 236, ms: 48 },
  ])
  t.strictSame(taken.slice(0, owing.length), owing)
  await takeOvers.takeListed({ dead: 'dead', isOver: () => false })
  t.equal(open.size, 0)
})

await t.test('very many that cannot be taken over hold up nobody listed after them', async (t) => {
  const poisoned = 230
  const { takeOvers, streams, taken } = takingMany({ fails: (key) => streams.indexOf(key) < poisoned })
  const isOver = () => false
  t.strictSame(await takeOvers.takeListed({ dead: 'dead', isOver }), { taken: 34, failed: poisoned })
  t.strictSame(taken.toSorted(), streams.slice(poisoned).toSorted())
})

await t.test('a process that stops finishes what it is at, and begins no more of a page', async (t) => {
  const { takeOvers, streams, taken } = takingMany()
  await takeOvers.take(
    streams,
    (o) => o === 'dead',
    () => taken.length >= 20,
  )
  t.ok(taken.length >= 20 && taken.length < 40, `${taken.length} of ${streams.length}`)
})

await t.test('what lands late is looked for while what waits is taken over', async (t) => {
  const held = Promise.withResolvers<{ taken: number; failed: number }>()
  const recovered: string[] = []
  let reads = 0
  const recovery = createRecovery<Fact>({
    store: {
      async readWritten() {
        reads += 1
        return []
      },
    } as never,
    instances: { recovered: async (o) => void recovered.push(o) },
    duties: { size: () => 0 } as never,
    takeOvers: { takeListed: () => held.promise } as never,
    sizeMax: 10,
    pause: async () => undefined,
    logger: pino({ level: 'silent' }),
  })
  recovery.begin({ _id: 'dead', done: 0 })
  await recovery.begun()
  await waitFor(() => reads === 6, { what: 'three scans for streams and three for duties' })
  t.strictSame(recovered, [], 'not all of it has been taken over')
  held.resolve({ taken: 1, failed: 0 })
  await waitFor(() => recovered.length === 1)
  t.strictSame(recovered, ['dead'])
})

await t.test('a stream that a process which has just started went on with is left to it', async (t) => {
  const known = ['dead']
  const calls: string[] = []
  const takeOvers = createTakeOvers<Fact>({
    instances: { readKnown: async () => [...known] },
    duties: { listed: async () => undefined } as never,
    async read() {
      if (!known.includes('young')) known.push('young')
      return { entries: [entryOf(1, 'young', 'opened')], unclaimed: [], last: 1, end: 1, seenMs: 0 }
    },
    isFinished: () => false,
    takeOver: async (key) => void calls.push(key),
    current: () => 'own',
    unfinished: async () => [stream],
    steadyMs: () => 0,
    pause: async () => undefined,
    logger: pino({ level: 'silent' }),
  })
  t.match(await takeOvers.takeListed({ dead: 'dead', isOver: () => false }), { taken: 0, failed: 0 })
  t.strictSame(calls, [])
})

await t.test('a stream of which nobody knows the claims is taken over', async (t) => {
  const { takeOvers, calls } = takingOver({ entries: [], unclaimed: [entryOf(1, 'dead', 'opened')] })
  await takeOvers.take([stream], (o) => o === 'dead', never)
  t.strictSame(calls, [stream])
})
