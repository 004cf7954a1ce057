import t from 'tap'
import { exploreStates } from '../src/explore-states.ts'

const countMax = 8

/** Counts up by one or by three; some numbers are reached in several ways. */
function exploreCounts(broken: (count: number) => string | null, statesMax = 100) {
  const by = (step: number, count: number) => ({ name: `+${step}`, state: Math.min(count + step, countMax) })
  return exploreStates({
    start: { name: 'zero', state: 0 },
    keyOf: String,
    movesOf: (count) => [by(1, count), by(3, count)],
    broken,
    statesMax,
  })
}

t.test('every state is visited once, layer by layer', async (t) => {
  const visited: number[] = []
  const exploration = exploreCounts((count) => {
    visited.push(count)
    return null
  })
  t.strictSame(exploration, { states: countMax + 1, depth: 4, violation: null })
  t.strictSame(visited, [0, 1, 3, 2, 4, 6, 5, 7, 8])
})

t.test('the trace to what is broken is the shortest', async (t) => {
  const { violation, depth } = exploreCounts((count) => (count === 7 ? 'never seven' : null))
  t.strictSame(violation, { invariant: 'never seven', trace: ['zero', '+1', '+3', '+3'] })
  t.equal(depth, 3)
})

t.test('a broken start has no move before it', async (t) => {
  const { violation } = exploreCounts(() => 'nothing holds')
  t.strictSame(violation, { invariant: 'nothing holds', trace: ['zero'] })
})

t.test('a search that grows too large ends with its layer', async (t) => {
  const { states, depth, violation } = exploreCounts(() => null, 4)
  t.strictSame({ states, depth, violation }, { states: 6, depth: 2, violation: null })
})
