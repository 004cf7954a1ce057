import t from 'tap'
import { createSlots, scarceInFlight, withHold } from '../../src/actions/slots.ts'

/** An endpoint that has not shown yet how fast it answers. */
const one = (inFlight: number) => ({ inFlight, scarceMax: scarceInFlight(null, 0) })

t.test('slots are bounded in all and per operator', (t) => {
  const slots = createSlots({ totalMax: 8 })
  t.equal(slots.take('a', 4, one(0)), 4)
  t.equal(slots.take('a', 1, one(0)), 1, 'crowded, but this endpoint has none yet')
  t.equal(slots.take('a', 8, one(0)), 1)
  t.equal(slots.take('a', 1, one(0)), 0, 'the operator has used up its own')
  t.equal(slots.take('b', 8, one(0)), 1)
  t.equal(slots.inFlight(), 7)
  t.end()
})

t.test('slow receivers never take what an idle endpoint needs', (t) => {
  const slots = createSlots({ totalMax: 140 })
  const slow = Array.from({ length: 20 }, () => slots.take('a', 8, one(0)))
  t.strictSame(slow.slice(0, 7), [8, 8, 8, 8, 8, 8, 8], 'all they want while there is plenty')
  t.strictSame(new Set(slow.slice(7)), new Set([1]), 'then one each')
  t.equal(slots.take('a', 7, one(1)), 0)
  t.equal(slots.take('a', 1, one(0)), 1)
  t.end()
})

t.test('an endpoint without a slot is notified once when one comes free', (t) => {
  const slots = createSlots({ totalMax: 1 })
  t.equal(slots.take('a', 1, one(0)), 1)
  let notified = 0
  slots.notifyWhenFree('b', () => {
    notified += 1
  })
  slots.give('a')
  t.equal(notified, 1)
  t.equal(slots.take('b', 1, one(0)), 1)
  slots.give('b')
  t.equal(notified, 1, 'once')
  t.end()
})

t.test(
  'accounts without an end never hold all slots, and the next free one goes to who holds the fewest',
  (t) => {
    const slots = createSlots({ totalMax: 1024 })
    const held = new Map<string, number>()
    const fill = (operatorId: string) => {
      for (let endpoint = 0; endpoint < 1000; endpoint++) {
        const granted = slots.take(operatorId, 64, one(0))
        held.set(operatorId, (held.get(operatorId) ?? 0) + granted)
      }
    }
    for (const hanging of ['a', 'b', 'c']) fill(hanging)
    t.strictSame(Object.fromEntries(held), { a: 768, b: 192, c: 48 })
    t.equal(slots.take('d', 1, one(0)), 1, 'whoever comes next finds room')
    for (let other = 0; other < 40; other++) slots.take(`other ${other}`, 64, one(0))
    t.equal(slots.inFlight(), 1024)

    const order: string[] = []
    slots.notifyWhenFree('a', () => order.push('a'))
    slots.notifyWhenFree('new', () => order.push('new'))
    slots.give('a')
    t.strictSame(order, ['new'])
    t.equal(slots.take('a', 8, one(0)), 0, 'who holds many leaves it')
    t.equal(slots.take('new', 8, one(0)), 1)
    t.end()
  },
)

t.test('a fast receiver keeps its places beside many that hang', (t) => {
  const slots = createSlots({ totalMax: 256 })
  for (let hanging = 0; hanging < 20; hanging++) slots.take('a', 8, one(0))
  const fast = { inFlight: 0, scarceMax: scarceInFlight(50, 0) }
  t.equal(slots.take('a', 8, fast), 8, 'not one: it gives them back at once')
  t.equal(slots.take('a', 8, { ...fast, inFlight: 8 }), 8)
  const slow = { inFlight: 1, scarceMax: scarceInFlight(10_000, 10_000) }
  t.equal(slots.take('a', 8, slow), 0)
  t.end()
})

t.test('while places are scarce an endpoint has as many as it gives back within a second', (t) => {
  t.strictSame(
    [5, 50, 400, 999, 1001, 30_000].map((meanMs) => scarceInFlight(meanMs, 0)),
    [200, 20, 2, 1, 1, 1],
  )
  t.equal(scarceInFlight(null, 0), 1, 'unknown before its first answer')
  t.equal(scarceInFlight(5, 2000), 1, 'one that has begun to hang shows before its time-out')
  let meanMs: number | null = null
  for (let attempt = 0; attempt < 20; attempt++) meanMs = withHold(meanMs, 10_000)
  for (let attempt = 0; attempt < 20; attempt++) meanMs = withHold(meanMs, 20)
  t.ok((meanMs ?? 0) < 100, 'what is long ago is forgotten')
  t.end()
})
