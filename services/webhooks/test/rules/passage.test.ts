import t from 'tap'
import {
  addEvent,
  ignoredMax,
  knownTo,
  nextRange,
  noteEvent,
  type Passage,
  passTo,
  rangeSpanMsMax,
  sendableTo,
} from '../../src/rules/passage.ts'

/** A passage after event 10 that knows these events: `.` is for others. */
function passageOf(events: string): Passage<number> {
  const passage: Passage<number> = { cursor: 10, known: [] }
  for (const event of events) addEvent(passage, event !== '.')
  return passage
}

const accept = (passage: Passage<number>, seq: number, createdAtMs = 0) =>
  noteEvent(passage, seq, { kind: 'accepted', item: createdAtMs })
const rangeOf = (passage: Passage<number>) => nextRange(passage, (createdAtMs) => createdAtMs)

t.test('a range goes as far as every event has come to an end', (t) => {
  const passage = passageOf('.ab.c')
  t.equal(knownTo(passage), 15)
  t.equal(rangeOf(passage), null)
  accept(passage, 13)
  t.equal(rangeOf(passage), null, 'the first one is still to be sent')
  noteEvent(passage, 12, { kind: 'sent' })
  t.equal(rangeOf(passage), null, 'or under way')
  noteEvent(passage, 12, { kind: 'aside' })
  t.strictSame(rangeOf(passage), { first: 11, to: 14, items: [{ seq: 13, item: 0 }] })
  passTo(passage, 14)
  t.equal(passage.cursor, 14)
  t.equal(rangeOf(passage), null)
  accept(passage, 15)
  noteEvent(passage, 13, { kind: 'aside' })
  t.strictSame(rangeOf(passage), { first: 15, to: 15, items: [{ seq: 15, item: 0 }] })
  t.end()
})

t.test('events for others have no range of their own until there are many', (t) => {
  t.equal(rangeOf(passageOf('.'.repeat(ignoredMax - 1))), null)
  t.match(rangeOf(passageOf('.'.repeat(ignoredMax))), { first: 11, to: 10 + ignoredMax, items: [] })
  t.end()
})

t.test('the deliveries of a range were made within a minute', (t) => {
  const passage = passageOf('abc')
  accept(passage, 11, 5)
  accept(passage, 12, 5 + rangeSpanMsMax)
  accept(passage, 13, 6 + rangeSpanMsMax)
  t.match(rangeOf(passage), { first: 11, to: 12 })
  passTo(passage, 12)
  t.match(rangeOf(passage), { first: 13, to: 13 })
  t.end()
})

t.test('first attempts go no further ahead of the cursor than a take-over counts', (t) => {
  const passage = passageOf('.a.b..c')
  t.equal(sendableTo(passage, 1), 12)
  t.equal(sendableTo(passage, 2), 14)
  t.equal(sendableTo(passage, 3), 17)
  noteEvent(passage, 12, { kind: 'aside' })
  t.equal(sendableTo(passage, 2), 14, 'also one that is stored counts until its range stands')
  t.equal(sendableTo(passageOf('..'), 2), 12)
  t.end()
})
