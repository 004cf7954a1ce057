import t from 'tap'
import { idTimeMs, newId } from '../src/new-id.ts'

await t.test('ids that are made later sort later, also within one millisecond', (t) => {
  const beganMs = Date.now()
  const ids = Array.from({ length: 10_000 }, () => newId('txn'))
  t.strictSame(ids, ids.toSorted(), 'sorted')
  t.equal(new Set(ids).size, ids.length, 'each once')
  t.ok(idTimeMs(ids[0] ?? '') >= beganMs && idTimeMs(ids.at(-1) ?? '') <= Date.now(), 'by their time')
  t.end()
})

await t.test('two ids of one millisecond differ in what is drawn at random', (t) => {
  const ends = Array.from({ length: 1000 }, () => newId('txn').slice(-8))
  t.equal(new Set(ends).size, ends.length, '40 bits of each')
  t.end()
})
