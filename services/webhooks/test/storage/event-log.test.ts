import { randomUUID } from 'node:crypto'
import { type EventType, eventType } from '@pitboss/contracts/objects/event'
import { newId } from '@pitboss/runtime/new-id'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { parseKeyring } from '@pitboss/storage/keyring'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { listEvents } from '../../src/actions/read-events.ts'
import { collectionsOf } from '../../src/storage/collections.ts'
import { type EventLog, openEventLog } from '../../src/storage/event-log.ts'
import { indexes } from '../../src/all-wings.ts'
import type { NewEvent } from '../../src/storage/log-append.ts'
import { keysAfter, logKey, readLogKey } from '../../src/storage/log-keys.ts'

const db = await openTestDatabase(t)
await ensureIndexes(db, indexes)
const collections = collectionsOf(db)

const secondMs = 1000
const start = new Date('2026-11-28T12:00:00.000Z')
const after = (seconds: number) => new Date(start.getTime() + seconds * secondMs)
const newScope = () => ({ operatorId: randomUUID(), environment: 'SANDBOX' }) as const
type Of = Partial<NewEvent> & Pick<NewEvent, 'scope'>
function event(of: Of): NewEvent {
  const { id = newId('evt') } = of
  return {
    ...{ id, type: 'round.started', createdAt: start, recordedAt: start, body: `body of ${id}` },
    ...{ roundId: null, openedAtMs: null },
    ...of,
  }
}
const toNobody = async () => () => []
const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id)

t.test('recorders at once record each event once, without gaps', async (t) => {
  const scopes = [newScope(), newScope()]
  const events = Array.from({ length: 120 }, (_, index) => event({ scope: scopes[index % 2] ?? newScope() }))
  const recorders = await Promise.all(Array.from({ length: 6 }, () => openEventLog(collections)))
  // Each begins elsewhere, so that their batches overlap in all ways.
  const results = await Promise.all(
    recorders.map(async (log, index) => {
      const mine = [...events.slice(index * 20), ...events.slice(0, index * 20)]
      const recorded: string[] = []
      for (let first = 0; first < mine.length; first += 30) {
        const batch = mine.slice(first, first + 30)
        const appended = await log.append(batch, toNobody)
        t.equal(appended.recorded.length + appended.known.size, batch.length)
        recorded.push(...idsOf(appended.recorded))
      }
      return recorded
    }),
  )
  t.strictSame(results.flat().toSorted(), idsOf(events).toSorted(), 'each is new to one recorder')
  for (const scope of scopes) {
    const found = await collections.log
      .find({ _id: keysAfter(scope, 0) })
      .sort({ _id: 1 })
      .toArray()
    t.strictSame(
      found.map(({ _id }) => readLogKey(_id).seq),
      Array.from({ length: 60 }, (_, index) => index + 1),
    )
  }
})

t.test('an event whose id is of another event is left out and named', async (t) => {
  const scope = newScope()
  const log = await openEventLog(collections)
  const [first, second] = [event({ scope }), event({ scope })]
  await log.append([first, second, first], toNobody)
  const { recorded, known, refused } = await log.append([first, first, second], toNobody)
  t.strictSame([recorded, [...known.keys()], refused], [[], [first.id, second.id], []])
  const others = [{ ...first, scope: newScope() }, { ...second, type: 'round.completed' } as const]
  t.strictSame((await log.append(others, toNobody)).refused, others)
  t.equal(await log.endOf(scope), 2)
})

t.test('a small log is searched by its index, too', async (t) => {
  const search = collections.log.find({ e: { $in: [newId('evt'), newId('evt')] } })
  t.match(JSON.stringify(await search.explain('queryPlanner')), /"IXSCAN"/)
})

t.test('a time is found in logs whose creation times are in no order', async (t) => {
  const scope = newScope()
  const log = await openEventLog(collections)
  const seconds = Array.from({ length: 90 }, (_, index) => index + ((index * 7) % 11) * (index % 3))
  await log.append(
    seconds.map((at) => event({ scope, createdAt: after(at) })),
    toNobody,
  )
  const expected = (at: number) => {
    const index = seconds.findIndex((one) => one >= at)
    return index === -1 ? seconds.length : index
  }
  const asked = Array.from({ length: 120 }, (_, index) => (index * 41) % 120)
  for (const at of asked) t.equal(await log.seqBefore(scope, after(at)), expected(at), `from ${at}`)
  // As after a loss of data.
  await collections.log.deleteMany({ _id: { $in: [20, 21, 45].map((seq) => logKey(scope, seq)) } })
  const other = await openEventLog(collections)
  const left = await other.headersAfter(scope, 0, 100)
  for (const at of asked) {
    const seq = await other.seqBefore(scope, after(at))
    const next = left.find(({ createdAt }) => createdAt >= after(at))
    t.ok(next === undefined || next.seq > seq, `from ${at}, where some are missing`)
  }
})

t.test('a page has the wanted types of a window, rare ones by their own index', async (t) => {
  const scope = newScope()
  const log = await openEventLog(collections)
  const types = eventType.options
  const events = Array.from({ length: 70 }, (_, index) => {
    const [type = 'round.started'] = types.slice(index % types.length)
    return event({ scope, type, createdAt: after(index) })
  })
  await log.append(events, toNobody)
  const window = { types: null, from: after(10), to: after(59) }
  const inWindow = events.slice(10, 60)
  t.strictSame(idsOf(await log.readAfter(scope, 0, 100, window)), idsOf(inWindow))
  for (const wanted of [
    [types[0]],
    ['transaction.failed'],
    ['transaction.failed', 'transaction.rollback', 'game.session.created'],
    ['transaction.failed', 'round.completed'],
  ] as const) {
    const expected = inWindow.filter(({ type }) => wanted.some((one) => one === type))
    const page = await log.headersAfter(scope, 15, 3, {
      ...window,
      types: wanted.flatMap((one) => one ?? []),
    })
    t.strictSame(idsOf(page), idsOf(expected.filter((one) => events.indexOf(one) >= 15).slice(0, 3)))
  }
})

t.test('a log goes on after the events of the first format, and is read as one', async (t) => {
  const scope = newScope()
  const roundId = newId('rnd')
  const first = Array.from({ length: 5 }, (_, index) => event({ scope, roundId, createdAt: after(index) }))
  const last = event({ scope, createdAt: after(5) })
  await collections.events.insertMany(
    [...first, last].map(({ id, type, createdAt, recordedAt, body, ...one }, index) => ({
      ...{ _id: id, ...scope, seq: index + 1, type, createdAt, createdHighAt: createdAt, recordedAt, body },
      ...{ roundId: one.roundId, targets: ['whe_one'] },
    })),
  )
  const log: EventLog = await openEventLog(collections)
  t.equal(await log.endOf(scope), 6)
  const late = Array.from({ length: 5 }, (_, index) => event({ scope, roundId, createdAt: after(index + 3) }))
  const { recorded, known } = await log.append([...first, ...late], toNobody)
  t.strictSame([idsOf(recorded), [...known.keys()]], [idsOf(late), idsOf(first)])

  const all = [...first, last, ...late]
  t.equal(await log.endOf(scope), 11)
  const page = await log.readAfter(scope, 3, 4)
  t.strictSame(idsOf(page), idsOf(all.slice(3, 7)), 'a page over the border')
  t.strictSame(
    page.map(({ seq, body }) => [seq, body]),
    all.slice(3, 7).map(({ body }, index) => [index + 4, body]),
  )
  t.strictSame(idsOf(await log.headersAfter(scope, 0, 100)), idsOf(all))
  t.strictSame(idsOf(await log.readAfter(scope, 6, 2)), idsOf(late.slice(0, 2)))
  t.equal(await log.seqBefore(scope, after(4)), 4, 'a time among the first')
  t.equal(await log.seqBefore(scope, after(6)), 9, 'a time among the others')
  t.strictSame(idsOf(await log.ofRound(scope, roundId, 7)), idsOf([...first, ...late].slice(0, 7)))
  t.strictSame(idsOf(await log.ofRound(null, roundId, 100)), idsOf([...first, ...late]))
  t.equal((await log.find(scope, last.id))?.seq, 6)
  t.equal(await log.find(newScope(), last.id), null)
  const bodies = await log.bodies(scope, idsOf([last, ...late]))
  t.strictSame(new Map([last, ...late].map(({ id, body }) => [id, body])), bodies)
  t.equal((await log.headersOf(idsOf(all))).length, all.length)
})

t.test('a poller misses nothing of a log that was restored and gave its numbers to others', async (t) => {
  const scope = newScope()
  const cursors = createCursorCodec({ keyring: parseKeyring(`k1:${Buffer.alloc(32, 7).toString('base64')}`) })
  const clock = { now: () => after(60) }
  const at = (seconds: number) => event({ scope, createdAt: after(seconds), recordedAt: after(seconds) })
  const [kept, first, second, third, fourth] = [at(0), at(1), at(2), at(3), at(4)]
  const record = async (events: readonly NewEvent[], seconds: number) => {
    const log = await openEventLog(collections)
    for (const one of events) await log.append([{ ...one, recordedAt: after(seconds) }], toNobody)
  }
  const poll = async (cursor: string | undefined, type?: EventType) => {
    const query = { limit: 50, from: start.toISOString(), ...{ cursor, type } }
    const events = await openEventLog(collections)
    const { bodies, nextCursor } = await listEvents({ events, cursors, clock }, scope, query)
    return { bodies: bodies.map((body) => body.replace('body of ', '')), nextCursor }
  }
  const restore = () => collections.log.deleteMany({ _id: keysAfter(scope, 1) })

  for (const one of [kept, first, second, third])
    await record([one], (one.createdAt.getTime() - +start) / 1000)
  const before = await poll(undefined)
  const rare = await poll(undefined, 'transaction.failed')
  t.strictSame(before.bodies, idsOf([kept, first, second, third]))
  t.strictSame(await poll(before.nextCursor), { bodies: [], nextCursor: before.nextCursor })
  await restore()
  await record([second], 30)
  t.strictSame((await poll(before.nextCursor)).bodies, idsOf([second]), 'while it is shorter')
  await record([fourth, third, first], 31)
  const later = await poll(before.nextCursor)
  t.strictSame(later.bodies, idsOf([second, fourth, third, first]), 'what is recorded anew is read again')
  t.strictSame((await poll(later.nextCursor)).bodies, [], 'once')
  const failed = { ...at(5), type: 'transaction.failed' } as const
  await record([failed], 32)
  t.strictSame((await poll(rare.nextCursor, 'transaction.failed')).bodies, [failed.id])
})
