import t from 'tap'
import { drainMs, fasterPace, type Pace, slowestPace } from '../src/delivery-pace.ts'

const after = { answerMs: 100, inFlightMax: 8, pace: slowestPace, isReplay: false }
const full: Pace = { inFlight: 8, successes: 0 }

t.test('a pace doubles with as many successes as it is wide, up to its bound', async (t) => {
  let pace = slowestPace
  const widths = Array.from({ length: 18 }, () => {
    pace = fasterPace(pace, 8)
    return pace.inFlight
  })
  t.strictSame(widths, [2, 2, 4, 4, 4, 4, ...Array.from({ length: 12 }, () => 8)])
  t.equal(fasterPace({ inFlight: 4, successes: 3 }, 5).inFlight, 5)
})

t.test('a backlog after a pause goes out at a growing pace', async (t) => {
  const ms = [0, 1, 3, 7, 8, 15, 16, 1000].map((count) => drainMs({ ...after, count }))
  t.strictSame(ms, [0, 100, 200, 300, 400, 400, 500, 12_800])
})

t.test('a replay takes a quarter of the slots, and a slow receiver takes longer', async (t) => {
  t.equal(drainMs({ ...after, count: 100, pace: full, isReplay: true }), 5000)
  t.equal(drainMs({ ...after, count: 100, pace: full }), 1300)
  t.equal(drainMs({ ...after, count: 100, pace: full, answerMs: 1000 }), 13_000)
})

t.test('the estimate is that of a receiver which answers each wave at once', async (t) => {
  for (const count of [1, 5, 64, 257]) {
    let [left, waves, pace] = [count, 0, slowestPace]
    while (left > 0) {
      const sent = Math.min(pace.inFlight, left)
      for (let each = 0; each < sent; each += 1) pace = fasterPace(pace, 64)
      left -= sent
      waves += 1
    }
    t.equal(drainMs({ ...after, count, inFlightMax: 64 }), waves * 100, `${count}`)
  }
})
