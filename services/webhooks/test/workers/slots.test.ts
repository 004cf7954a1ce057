import t from 'tap'
import { createSlots } from '../../src/workers/slots.ts'

t.test('slots are bounded in all and per operator', (t) => {
  const slots = createSlots({ totalMax: 10, perOperatorMax: 6 })
  t.equal(slots.take('a', 4, 0), 4)
  t.equal(slots.take('a', 1, 0), 1, 'crowded, but this endpoint has none yet')
  t.equal(slots.take('a', 8, 0), 1)
  t.equal(slots.take('a', 1, 0), 0, 'the operator has used up its own')
  t.equal(slots.take('b', 8, 0), 1)
  t.equal(slots.inFlight(), 7)
  t.end()
})

t.test('slow receivers never take what an idle endpoint needs', (t) => {
  const slots = createSlots({ totalMax: 100, perOperatorMax: 100 })
  const slow = Array.from({ length: 20 }, () => slots.take('a', 8, 0))
  t.strictSame(slow.slice(0, 7), [8, 8, 8, 8, 8, 8, 8], 'all they want while there is plenty')
  t.strictSame(new Set(slow.slice(7)), new Set([1]), 'then one each')
  t.equal(slots.take('a', 7, 1), 0)
  t.equal(slots.take('a', 1, 0), 1)
  t.end()
})

t.test('an endpoint without a slot is notified once when one comes free', (t) => {
  const slots = createSlots({ totalMax: 1, perOperatorMax: 1 })
  t.equal(slots.take('a', 1, 0), 1)
  let notified = 0
  slots.notifyWhenFree(() => {
    notified += 1
  })
  slots.give('a')
  t.equal(notified, 1)
  t.equal(slots.take('b', 1, 0), 1)
  slots.give('b')
  t.equal(notified, 1, 'once')
  t.end()
})
