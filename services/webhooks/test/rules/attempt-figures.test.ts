import t from 'tap'
import { type CountedAttempt, countsOfAttempt, endpointPointOf } from '../../src/rules/attempt-figures.ts'

const createdAt = new Date('2026-11-20T10:00:00.000Z')
const attempt = { attempt: 1, sentAt: new Date(createdAt.getTime() + 100), durationMs: 26, httpStatus: 204 }

t.test('an attempt counts once by its outcome, and by the bucket that its bound closes', (t) => {
  const counts = (change: Partial<CountedAttempt>) => countsOfAttempt({ ...attempt, ...change }, createdAt)
  t.strictSame(counts({}), ['delivered', 'd2', 'f0'])
  t.strictSame(counts({ durationMs: 25, httpStatus: 302 }), ['refused', 'd1', 'f0'], 'a bound is inclusive')
  t.strictSame(counts({ attempt: 2, durationMs: 30_001, httpStatus: null }), ['unreachable', 'd12'])
  t.strictSame(
    countsOfAttempt({ ...attempt, durationMs: null, httpStatus: null }, createdAt),
    ['unknown'],
    'an attempt whose worker went away has neither a duration nor a delay',
  )
  t.end()
})

t.test('a point is the sum of its minutes', (t) => {
  const point = endpointPointOf(createdAt, [
    { delivered: 2, d0: 2, f0: 1 },
    { delivered: 1, refused: 3, unknown: 1, d0: 1, d12: 3 },
  ])
  t.match(point, { at: '2026-11-20T10:00:00.000Z', delivered: 3, refused: 3, unreachable: 0, unknown: 1 })
  t.strictSame(point.durations, [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3])
  t.equal(point.first_delays.length, 11)
  t.end()
})
