import { profileOf } from '@pitboss/contracts/jurisdictions'
import fc from 'fast-check'
import t from 'tap'
import { earlyStart, latestEarlierStart } from '../../src/wings/protection/rules/stop.ts'

const at = (ms: number) => new Date(1_700_000_000_000 + ms)
const last = { startedAt: at(0), startedBy: 'dice/one' }
const another = { startedBy: 'dice/two', gapS: 5 }

t.test('a start within the gap is refused with the whole seconds that are left', (t) => {
  for (const [ms, seconds] of [
    [-700, 6],
    [0, 5],
    [1, 5],
    [1000, 4],
    [4000, 1],
    [4999, 1],
  ] as const) {
    const refused = earlyStart(last, another, at(ms))
    t.match(refused, { code: 'RATE_LIMITED', retryAfterS: seconds, retryable: true }, `after ${ms} ms`)
  }
  for (const ms of [5000, 5001, 3_600_000]) t.equal(earlyStart(last, another, at(ms)), null, `after ${ms} ms`)
  t.equal(earlyStart(null, another, at(0)), null, 'the first start')
  t.equal(earlyStart(last, { startedBy: 'dice/one', gapS: 5 }, at(0)), null, 'a repeat of the last start')
  t.end()
})

t.test('whoever waits as told may start, and the store has the same bound as the refusal', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 120_000 }), (gapS, ms) => {
      const refused = earlyStart(last, { startedBy: 'dice/two', gapS }, at(ms))
      const storeLetsIn = last.startedAt <= latestEarlierStart(at(ms), gapS)
      if ((refused === null) !== storeLetsIn) return false
      const waited = at(ms + (refused?.retryAfterS ?? 0) * 1000)
      return earlyStart(last, { startedBy: 'dice/two', gapS }, waited) === null
    }),
  )
  t.end()
})

t.test('a session without a jurisdiction has no rule of one', (t) => {
  const nothing = { startGapS: null, realityCheckS: null, showsSpend: false, stakeCaps: {} }
  t.same(profileOf({}), nothing)
  t.same(profileOf({ jurisdiction: 'NONE' }), nothing)
  t.equal(profileOf({ jurisdiction: 'UK' }).startGapS, 5)
  t.end()
})
