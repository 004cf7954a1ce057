import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { fieldChanges, type FieldChanges } from '../src/field-changes.ts'

type Fields = Record<string, unknown>

/** A document after an update, as the database makes it; it stores no undefined field. */
function applied(before: Fields, { $set = {}, $unset = {} }: FieldChanges): Fields {
  const kept = Object.entries({ ...before, ...$set }).filter(([name]) => !Object.hasOwn($unset, name))
  return stored(Object.fromEntries(kept))
}

function stored(value: Fields): Fields {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === undefined ? [] : [[name, within(one)]])),
  )
}

function within(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => (one === undefined ? null : within(one)))
  return typeof value === 'object' && value !== null && !(value instanceof Date)
    ? stored(Object.fromEntries(Object.entries(value)))
    : value
}

const name = fc.constantFrom('a', 'b', 'c', 'status', 'constructor')
const leaf = fc.oneof(
  fc.constantFrom<unknown[]>(null, undefined, '', 'x', 0, 1, -0, Number.NaN, 1n, true, false),
  fc.date({ min: new Date(0), max: new Date(3) }),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, leaf, tie('list'), tie('object')),
  list: fc.array(tie('any'), { maxLength: 3 }),
  object: fc.dictionary(name, tie('any'), { maxKeys: 3, noNullPrototype: true }),
})).any
const fields = fc.dictionary(name, value, { maxKeys: 5, noNullPrototype: true })
const runs = 5000

t.test('the changes make one document of the other', async (t) => {
  const isExact = () =>
    fc.assert(
      fc.property(fields, fields, (before, after) => {
        deepStrictEqual(applied(before, fieldChanges(before, after)), stored(after))
      }),
      { numRuns: runs },
    )
  t.doesNotThrow(isExact)
})

t.test('equal documents have no changes', async (t) => {
  const isQuiet = () =>
    fc.assert(
      fc.property(fields, (document) => {
        deepStrictEqual(fieldChanges(document, structuredClone(document)), {})
      }),
      { numRuns: runs },
    )
  t.doesNotThrow(isQuiet)
})

t.test('only what differs is written, whole', async (t) => {
  const at = (ms: number) => new Date(ms)
  const before = {
    status: 'PENDING',
    at: at(1),
    same: at(2),
    wins: [{ id: 'w', minor: '5' }],
    stakes: [{ id: 's', minor: '1' }],
    gone: 1,
    unset: null,
  }
  const after = {
    status: 'SETTLED',
    at: at(3),
    same: at(2),
    wins: [{ id: 'w', minor: '6' }],
    stakes: [{ minor: '1', id: 's' }],
    gone: undefined,
    unset: null,
    fresh: false,
  }
  t.strictSame(fieldChanges(before, after), {
    $set: { status: 'SETTLED', at: at(3), wins: [{ id: 'w', minor: '6' }], fresh: false },
    $unset: { gone: '' },
  })
})

t.test('nothing counts as the same that the database tells apart', async (t) => {
  const pairs: [unknown, unknown][] = [
    [null, undefined],
    [0, '0'],
    [1, 1n],
    [1, true],
    [[], {}],
    [[1], [1, 2]],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: undefined, b: 1 }, { a: 1 }],
    [new Date(1), new Date(2)],
    [new Date(1), 1],
    [new Uint8Array([1]), new Uint8Array([2])],
    [new Map([[1, 2]]), new Map([[1, 3]])],
  ]
  for (const [a, b] of pairs) {
    for (const [before, after] of [
      [a, b],
      [b, a],
    ]) {
      const { $set, $unset } = fieldChanges({ f: before }, { f: after })
      t.ok($set !== undefined || $unset !== undefined, `${String(before)} and ${String(after)}`)
    }
  }
})

t.test('a name that means something else to the database is refused', async (t) => {
  for (const bad of ['a.b', '$set', '']) {
    t.throws(() => fieldChanges({}, { [bad]: 1 }), RangeError)
    t.throws(() => fieldChanges({ [bad]: 1 }, {}), RangeError)
    t.strictSame(fieldChanges({ [bad]: 1 }, { [bad]: 1 }), {})
  }
})
