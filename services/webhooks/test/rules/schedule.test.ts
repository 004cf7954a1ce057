import t from 'tap'
import {
  attemptDelayMs,
  judgeAttempt,
  ladderAhead,
  type Place,
  placeAfterInterruption,
  retryAfterMs,
  stepsMax,
} from '../../src/rules/retry-schedule.ts'

const s = 1000
const m = 60 * s
const h = 60 * m
const documented = [0, 5 * s, 30 * s, 2 * m, 10 * m, 30 * m, h, 2 * h, 3 * h, 4 * h, 6 * h, 7 * h]
const plain = (ms: number) => ms
const start = new Date('2026-11-20T00:00:00.000Z')
const after = (ms: number) => new Date(start.getTime() + ms)

/** Judges a failed attempt, by default at step 1 of a delivery that began at `start`. */
const judge = (fields: Partial<Parameters<typeof judgeAttempt>[0]> = {}) =>
  judgeAttempt({
    ok: false,
    single: false,
    place: { step: 1, stepDueAt: start },
    startedAt: start,
    at: fields.startedAt ?? start,
    firstAttemptAt: start,
    retryAfterMs: null,
    random: 0.5,
    scaleMs: plain,
    ...fields,
  })

/** Jitter that differs from step to step, the same each time. */
function mixed(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 16_807) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** The times of all attempts of a delivery that only fails. */
function wholeLife(random: () => number): Date[] {
  const made: Date[] = []
  let place: Place = { step: 1, stepDueAt: start }
  for (;;) {
    made.push(place.stepDueAt)
    const judged = judge({ place, startedAt: place.stepDueAt, random: random() })
    if (judged.kind !== 'retry') {
      t.strictSame(judged, { kind: 'failed', scheduleSpent: true })
      return made
    }
    t.equal(judged.place.step, place.step + 1)
    place = judged.place
  }
}

t.test('the ladder ahead holds every life of a delivery that only fails, from each of its steps', (t) => {
  const seeds = [() => 0, () => 0.5, () => 0.999999]
  const lives = [...seeds, mixed(7), mixed(11)].map(wholeLife)
  for (const made of lives)
    for (let step = 1; step <= stepsMax; step += 1) {
      const place = { step, stepDueAt: made[step - 1] ?? start }
      const ladder = ladderAhead(place, step === 1 ? null : start, plain)
      t.strictSame(
        ladder.map((rung) => rung.step),
        made.slice(step - 1).map((_, index) => step + index),
      )
      for (const [index, { from, to }] of ladder.entries()) {
        const at = made[step - 1 + index] ?? start
        if (at < from || at > to) t.fail(`step ${step + index} at ${at.toISOString()}`)
      }
    }
  const [first, second] = ladderAhead({ step: 1, stepDueAt: start }, null, plain)
  t.strictSame(first, { step: 1, from: start, to: start }, 'the next step has one time')
  t.strictSame(second, { step: 2, from: after(4500), to: after(5500) })
  t.end()
})

t.test('twelve steps at the documented delays, 23 h 42 m in all', (t) => {
  t.equal(stepsMax, 12)
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
    const made = wholeLife(() => 0.5)
    t.strictSame(
      made.map((at, index) => at.getTime() - (made[index - 1] ?? start).getTime()),
      documented,
    )
    t.strictSame(made.at(-1), after(23 * h + 42 * m + 35 * s))
    t.end()
  },
)

t.test('a delivery lives for 23 hours also when the jitter of every step is shortest', (t) => {
  const made = wholeLife(() => 0)
  t.strictSame(made.at(-1), after(23 * h))
  for (const [index, at] of made.entries()) {
    const delayMs = at.getTime() - (made[index - 1] ?? start).getTime()
    t.ok(delayMs <= (documented[index] ?? 0), `step ${index + 1} is not later than the schedule has it`)
  }
  t.end()
})

t.test('a pulled-forward attempt uses up no step, and the step that was due stays due at its time', (t) => {
  const place = { step: 12, stepDueAt: after(23 * h) }
  for (const ms of [1, 22 * h, 23 * h - 1]) {
    t.strictSame(judge({ place, startedAt: after(ms) }), { kind: 'retry', place })
  }
  t.strictSame(judge({ place, startedAt: after(23 * h - 1), at: after(23 * h + 9 * s) }), {
    kind: 'retry',
    place,
  })
  t.strictSame(judge({ place, startedAt: after(23 * h) }), { kind: 'failed', scheduleSpent: true })
  t.end()
})

t.test('the last step ends the schedule only after 23 hours', (t) => {
  const place = { step: 12, stepDueAt: after(7 * h) }
  t.strictSame(judge({ place, startedAt: after(7 * h) }), {
    kind: 'retry',
    place: { step: 12, stepDueAt: after(23 * h) },
  })
  t.end()
})

t.test('a test and a manual retry of an ended delivery have no schedule', (t) => {
  t.strictSame(judge({ single: true }), { kind: 'failed', scheduleSpent: false })
  t.end()
})

t.test('an interrupted attempt counts as a step if it was one', (t) => {
  const interrupted = (place: Place, startedAt: Date) =>
    placeAfterInterruption({ place, startedAt, firstAttemptAt: start, random: 0.5, scaleMs: plain })
  const third = { step: 3, stepDueAt: after(35 * s) }
  t.strictSame(interrupted(third, after(40 * s)), { step: 4, stepDueAt: after(160 * s) }, 'a step')
  t.strictSame(interrupted(third, after(20 * s)), third, 'no step: it had been pulled forward')
  const last = { step: 12, stepDueAt: after(24 * h) }
  t.strictSame(interrupted(last, after(24 * h)), last, 'the last step stays due')
  t.end()
})

t.test('the later of Retry-After and the schedule counts, and only the schedule is scaled', (t) => {
  const due = (fields: Parameters<typeof judge>[0]) => {
    const judged = judge({ scaleMs: (ms) => ms / 10, ...fields })
    return judged.kind === 'retry' ? judged.place.stepDueAt.getTime() - start.getTime() : null
  }
  t.equal(due({ retryAfterMs: null }), 500)
  t.equal(due({ retryAfterMs: 200 }), 500)
  t.equal(due({ retryAfterMs: 9000 }), 9000)
  const pulled = { place: { step: 2, stepDueAt: after(5 * s) }, startedAt: after(1 * s) }
  t.equal(due({ ...pulled, retryAfterMs: 3 * s }), 5 * s)
  t.equal(due({ ...pulled, retryAfterMs: 60 * s }), 61 * s, 'also of a pulled-forward attempt')
  t.end()
})

t.test('Retry-After is read in seconds or as a date, on 429 and 503 alone, up to an hour', (t) => {
  const now = new Date('2026-11-20T09:30:00.000Z')
  t.equal(retryAfterMs(429, '7', now), 7000)
  t.equal(retryAfterMs(503, 'Fri, 20 Nov 2026 09:30:30 GMT', now), 30_000)
  t.equal(retryAfterMs(503, 'Fri, 20 Nov 2026 09:00:00 GMT', now), 0)
  for (const long of ['86400', '9999999999']) t.equal(retryAfterMs(429, long, now), h)
  t.equal(retryAfterMs(500, '7', now), null)
  t.equal(retryAfterMs(429, null, now), null)
  for (const odd of ['', '-1', '1.5', 'soon', '1e9', '9'.repeat(40)])
    t.equal(retryAfterMs(429, odd, now), null, odd)
  t.end()
})
