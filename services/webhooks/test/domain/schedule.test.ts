import t from 'tap'
import { judgeAttempt } from '../../src/domain/delivery-outcome.ts'
import { retryAfterMs } from '../../src/domain/retry-after.ts'
import { attemptDelayMs, attemptsMax } from '../../src/domain/schedule.ts'

const s = 1000
const m = 60 * s
const h = 60 * m
const documented = [0, 5 * s, 30 * s, 2 * m, 10 * m, 30 * m, h, 2 * h, 3 * h, 4 * h, 6 * h, 7 * h]
const plain = (ms: number) => ms

t.test('twelve attempts at the documented delays, 23 h 42 m in all', (t) => {
  t.equal(attemptsMax, 12)
  t.strictSame(
    documented.map((_, index) => attemptDelayMs(index + 1, 0.5)),
    documented,
  )
  t.equal(Math.floor(documented.reduce((sum, ms) => sum + ms, 0) / m), 23 * 60 + 42)
  t.equal(attemptDelayMs(13, 0.5), null)
  t.end()
})

t.test('jitter stays within ten per cent on either side', (t) => {
  for (const [index, ms] of documented.entries()) {
    t.equal(attemptDelayMs(index + 1, 0), Math.round(ms * 0.9))
    t.ok((attemptDelayMs(index + 1, 0.999999) ?? Infinity) <= ms * 1.1)
  }
  t.end()
})

t.test(
  'a delivery that only fails lives through the whole schedule on a virtual clock and then fails',
  (t) => {
    const startMs = Date.parse('2026-11-20T00:00:00.000Z')
    let nowMs = startMs
    const delays: number[] = []
    for (let attempt = 1; ; attempt++) {
      const judged = judgeAttempt({
        ok: false,
        at: new Date(nowMs),
        attempt,
        scheduleBase: 0,
        single: false,
        retryAfterMs: null,
        random: 0.5,
        scaleMs: plain,
      })
      if (judged.kind !== 'retry') {
        t.strictSame(judged, { kind: 'failed', scheduleSpent: true })
        t.equal(attempt, 12)
        break
      }
      delays.push(judged.dueAt.getTime() - nowMs)
      nowMs = judged.dueAt.getTime()
    }
    t.strictSame(delays, documented.slice(1))
    t.equal(nowMs - startMs, 23 * h + 42 * m + 35 * s)
    t.end()
  },
)

t.test('a new run of the schedule begins where the attempts stood, a single attempt has no schedule', (t) => {
  const at = new Date('2026-11-20T00:00:00.000Z')
  const judge = (fields: { attempt: number; scheduleBase: number; single: boolean }) =>
    judgeAttempt({ ok: false, at, retryAfterMs: null, random: 0.5, scaleMs: plain, ...fields })
  t.strictSame(judge({ attempt: 13, scheduleBase: 12, single: false }), {
    kind: 'retry',
    dueAt: new Date(at.getTime() + 5 * s),
  })
  t.strictSame(judge({ attempt: 13, scheduleBase: 12, single: true }), {
    kind: 'failed',
    scheduleSpent: false,
  })
  t.end()
})

t.test('the later of Retry-After and the schedule counts, and only the schedule is scaled', (t) => {
  const at = new Date('2026-11-20T00:00:00.000Z')
  const due = (retryMs: number | null) => {
    const judged = judgeAttempt({
      ok: false,
      at,
      attempt: 1,
      scheduleBase: 0,
      single: false,
      retryAfterMs: retryMs,
      random: 0.5,
      scaleMs: (ms) => ms / 10,
    })
    return judged.kind === 'retry' ? judged.dueAt.getTime() - at.getTime() : null
  }
  t.equal(due(null), 500)
  t.equal(due(200), 500)
  t.equal(due(9000), 9000)
  t.end()
})

t.test('Retry-After is read in seconds or as a date, on 429 and 503 alone, up to an hour', (t) => {
  const now = new Date('2026-11-20T09:30:00.000Z')
  t.equal(retryAfterMs(429, '7', now), 7000)
  t.equal(retryAfterMs(503, 'Fri, 20 Nov 2026 09:30:30 GMT', now), 30_000)
  t.equal(retryAfterMs(503, 'Fri, 20 Nov 2026 09:00:00 GMT', now), 0)
  t.equal(retryAfterMs(429, '86400', now), h)
  t.equal(retryAfterMs(500, '7', now), null)
  t.equal(retryAfterMs(429, null, now), null)
  for (const odd of ['', '-1', '1.5', 'soon', '1e9', '9'.repeat(40)])
    t.equal(retryAfterMs(429, odd, now), null, odd)
  t.end()
})
