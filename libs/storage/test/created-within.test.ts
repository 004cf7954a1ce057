import { newId } from '@pitboss/runtime/new-id'
import t from 'tap'
import { createdWithin } from '../src/created-within.ts'

const minuteMs = 60_000
const now = new Date()
const around = (ms: number) => new Date(now.getTime() + ms)

/** Whether an id that is made now lies within the bounds. */
function holds({ ids }: ReturnType<typeof createdWithin>, id = newId('rnd')): boolean {
  return ids === null || ((ids.$gt ?? '') < id && id < (ids.$lt ?? '~'))
}

t.test('no window asks nothing', async (t) => {
  t.strictSame(createdWithin({ prefix: 'rnd' }), { ids: null, createdAt: null })
})

t.test(
  'an id made beside its object lies in every window that holds the object, both ends included',
  async (t) => {
    for (const [from, to] of [
      [0, 0],
      [-minuteMs, 0],
      [0, minuteMs],
      [-30_000, -30_000],
      [30_000, 30_000],
    ] as const) {
      const window = createdWithin({ prefix: 'rnd', from: around(from), to: around(to) })
      t.ok(holds(window), `${from} to ${to}`)
      t.strictSame(window.createdAt, { $gte: around(from), $lte: around(to) })
    }
    t.ok(holds(createdWithin({ prefix: 'rnd', from: new Date(0) })))
  },
)

t.test('ids of another time lie outside, so that they are not read', async (t) => {
  t.notOk(holds(createdWithin({ prefix: 'rnd', to: around(-10 * minuteMs) })))
  t.notOk(holds(createdWithin({ prefix: 'rnd', from: around(10 * minuteMs) })))
})

t.test('an id that was made long before its object is still found', async (t) => {
  const window = { prefix: 'ses', from: around(23 * 60 * minuteMs), to: around(24 * 60 * minuteMs) }
  t.notOk(holds(createdWithin(window), newId('ses')))
  t.ok(holds(createdWithin({ ...window, earlyMs: 24 * 60 * minuteMs }), newId('ses')))
})

t.test('a page goes on within the window', async (t) => {
  const [first, second, third] = [newId('rnd'), newId('rnd'), newId('rnd')]
  const window = { prefix: 'rnd', from: around(-minuteMs), to: around(minuteMs) }
  const before = createdWithin({ ...window, before: second })
  t.strictSame(
    [first, second, third].map((id) => holds(before, id)),
    [true, false, false],
  )
  const after = createdWithin({ ...window, after: second })
  t.strictSame(
    [first, second, third].map((id) => holds(after, id)),
    [false, false, true],
  )
  const farCursor = createdWithin({ prefix: 'rnd', from: around(10 * minuteMs), after: first })
  t.notOk(holds(farCursor, second), 'a cursor from outside the window does not widen it')
})
