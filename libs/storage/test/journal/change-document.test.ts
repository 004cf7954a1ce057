import fc from 'fast-check'
import t from 'tap'
import { changeBetween, changeDocument, isSame } from '../../src/journal/change-document.ts'

const values = fc.oneof(
  fc.integer(),
  fc.string(),
  fc.date({ noInvalidDate: true }),
  fc.array(fc.oneof(fc.integer({ min: 0, max: 2 }), fc.record({ at: fc.integer({ min: 0, max: 2 }) })), {
    maxLength: 6,
  }),
)
const documents = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'list'), values)

t.test('a change makes of the document before the one after', async (t) => {
  fc.assert(
    fc.property(documents, documents, fc.integer({ min: 1, max: 6 }), (before, after, most) => {
      const keep = { list: most, a: most }
      return isSame(changeDocument(before, changeBetween(before, after, keep), keep), after)
    }),
    { numRuns: 3000 },
  )
  t.pass()
})

t.test('a list that grows is appended to, also where its oldest items leave', async (t) => {
  t.strictSame(changeBetween({ tries: [1, 2], n: 1 }, { tries: [1, 2, 3], n: 2 }), {
    set: { n: 2 },
    push: { tries: [3] },
  })
  t.strictSame(changeBetween({ tries: [1, 2] }, { tries: [2, 3] }, { tries: 2 }), { push: { tries: [3] } })
  t.strictSame(changeDocument({ tries: [1, 2] }, { push: { tries: [3] } }, { tries: 2 }), { tries: [2, 3] })
  t.strictSame(changeBetween({ tries: [1, 2] }, { tries: [2, 3] }), { set: { tries: [2, 3] } })
  t.strictSame(changeBetween({ a: 1, b: 2 }, { a: undefined, c: 3 }), { set: { c: 3 }, unset: ['a', 'b'] })
  t.strictSame(changeBetween({ a: { x: 1, y: [new Date(5)] } }, { a: { y: [new Date(5)], x: 1 } }), {})
  t.throws(() => changeBetween({}, { 'a.b': 1 }), RangeError)
})
