import t from 'tap'
import {
  afterAttempt,
  type AttemptResult,
  backlogOwedFor,
  type EndpointHealth,
  freshHealth,
  nextProbe,
  isFullyHealthy,
  paused,
  resumed,
} from '../../src/rules/endpoint-health.ts'

const startMs = Date.parse('2026-11-20T00:00:00.000Z')
const hourMs = 3_600_000
const at = (seconds: number) => new Date(startMs + seconds * 1000)
const plain = (ms: number) => ms

function result(seconds: number, fields: Partial<AttemptResult> = {}): AttemptResult {
  return {
    at: at(seconds),
    ok: false,
    gone: false,
    probe: false,
    eventType: 'round.started',
    exhausted: false,
    firstAttemptAt: at(0),
    failedInStreak: null,
    ...fields,
  }
}

function run(health: EndpointHealth, ...results: AttemptResult[]): EndpointHealth {
  return results.reduce((current, one) => afterAttempt(current, one, plain), health)
}

const failures = (count: number, seconds = 0) => Array.from({ length: count }, () => result(seconds))

t.test('the breaker opens at the tenth failure in a row, no earlier', (t) => {
  t.equal(run(freshHealth, ...failures(9)).breaker.probeAt, null)
  const opened = { probeAt: at(30), intervalMs: 30_000, probes: 0, closedAt: null, refusedTypes: [] }
  t.strictSame(run(freshHealth, ...failures(10)).breaker, opened)
  const interrupted = run(freshHealth, ...failures(9), result(1, { ok: true }), ...failures(9))
  t.equal(interrupted.breaker.probeAt, null)
  t.end()
})

t.test(
  'probes come after 30 s and then twice as long each time, at most 5 min; others do not move them',
  (t) => {
    let health = run(freshHealth, ...failures(10))
    let nowS = 0
    const gaps: number[] = []
    for (let probe = 0; probe < 6; probe++) {
      const probeAt = health.breaker.probeAt ?? at(0)
      gaps.push((probeAt.getTime() - at(nowS).getTime()) / 1000)
      nowS = (probeAt.getTime() - startMs) / 1000
      t.strictSame(run(health, result(nowS)).breaker, health.breaker, 'a manual retry that fails')
      health = run(health, result(nowS, { probe: true }))
    }
    t.strictSame(gaps, [30, 60, 120, 240, 300, 300])
    t.end()
  },
)

t.test('every third probe is an event type’s turn, of the one whose probe failed longest ago', (t) => {
  const refused = (seconds: number, eventType: AttemptResult['eventType']) =>
    result(seconds, { probe: true, eventType })
  let health = run(freshHealth, ...failures(10))
  const probes: unknown[] = []
  for (let probe = 0; probe < 7; probe++) {
    probes.push(nextProbe(health))
    health = run(health, refused(probe, probe === 2 ? 'transaction.bet' : 'transaction.win'))
  }
  t.strictSame(probes, [
    ...['oldest', 'oldest', { afterTypes: ['transaction.win'] }],
    ...['oldest', 'oldest', { afterTypes: ['transaction.bet', 'transaction.win'] }, 'oldest'],
  ])
  const again = run(health, result(60, { ok: true, probe: true }), ...failures(10, 61))
  const third = run(again, refused(62, 'transaction.win'), refused(63, 'transaction.win'))
  t.strictSame(
    nextProbe(third),
    { afterTypes: ['transaction.bet', 'transaction.win'] },
    'of the next opening',
  )
  const untold = { ...freshHealth, breaker: { ...freshHealth.breaker, probeAt: at(30), probes: 2 } }
  t.strictSame(nextProbe(untold), { afterTypes: [] })
  t.end()
})

t.test('the first success closes the breaker, makes the backlog due once and begins the pace at one', (t) => {
  const open = run(freshHealth, ...failures(10))
  t.equal(backlogOwedFor(open, null), null)
  const health = run(open, result(60, { ok: true, probe: true }))
  t.strictSame(health.breaker, { probeAt: null, intervalMs: 0, closedAt: at(60), refusedTypes: [] })
  t.strictSame(backlogOwedFor(health, null), at(60))
  t.equal(backlogOwedFor(health, at(60)), null, 'it was pulled forward for this closing')
  t.equal(backlogOwedFor(paused(health), null), null, 'a paused endpoint takes nothing')
  const twice = run(health, ...failures(10, 61), result(60, { ok: true }))
  t.strictSame(backlogOwedFor(twice, at(60)), at(60.001), 'every closing is later than the one before')
  t.strictSame(health.streak, { number: 2, attempts: 0, deliveries: 0, since: null })
  t.equal(health.pace.inFlight, 1)
  t.notOk(isFullyHealthy(health))
  t.end()
})

t.test('a success without an open breaker pulls nothing forward and slows nothing down', (t) => {
  const failed = run(freshHealth, ...failures(9))
  const health = run(failed, result(1, { ok: true }))
  t.equal(backlogOwedFor(health, null), null)
  t.strictSame(health.pace, freshHealth.pace)
  t.match(health, { streak: { number: 2, attempts: 0 }, lastSuccessAt: at(1) })
  t.ok(isFullyHealthy(health))
  t.end()
})

t.test('the pace doubles after as many successes as it allows: 1, 2, 4, 8', (t) => {
  const closed = run(freshHealth, ...failures(10), result(60, { ok: true, probe: true }))
  let health = closed
  const paces = [health.pace.inFlight]
  for (let success = 1; success <= 7; success++) {
    health = run(health, result(2, { ok: true }))
    paces.push(health.pace.inFlight)
  }
  t.strictSame(paces, [1, 2, 2, 4, 4, 4, 4, 8])
  t.ok(isFullyHealthy(health))
  const refusedOne = run(closed, result(61, { ok: true }), result(62), result(63, { ok: true }))
  t.strictSame(refusedOne.pace, { inFlight: 2, successes: 1 }, 'a failure on the way up takes nothing back')
  t.end()
})

t.test('the streak counts attempts, and each delivery once', (t) => {
  const first = run(freshHealth, result(5))
  t.strictSame(first.streak, { number: 1, attempts: 1, deliveries: 1, since: at(5) })
  const again = run(first, result(6, { failedInStreak: 1 }))
  t.strictSame(again.streak, { number: 1, attempts: 2, deliveries: 1, since: at(5) })
  const other = run(again, result(7))
  t.strictSame(other.streak, { number: 1, attempts: 3, deliveries: 2, since: at(5) })
  const next = run(other, result(8, { ok: true }), result(9, { failedInStreak: 1 }))
  t.strictSame(next.streak, { number: 2, attempts: 1, deliveries: 1, since: at(9) }, 'a streak of its own')
  t.end()
})

t.test('410 pauses at once', (t) => {
  t.match(run(freshHealth, result(0, { gone: true })), { status: 'PAUSED', pauseReason: 'GONE' })
  t.end()
})

t.test('24 hours of failures pause, judged at a failure, with at least ten of them', (t) => {
  const dayS = 24 * 3600
  const nine = run(freshHealth, ...failures(8), result(dayS))
  t.equal(nine.status, 'ACTIVE', 'nine attempts are too few')
  t.match(run(nine, result(dayS)), { status: 'PAUSED', pauseReason: 'FAILING' })
  const early = run(freshHealth, ...failures(20), result(dayS - 1))
  t.equal(early.status, 'ACTIVE', 'a second early')
  const halved = [...failures(9), result(dayS / 2)].reduce(
    (health, one) => afterAttempt(health, one, (ms) => ms / 2),
    freshHealth,
  )
  t.equal(halved.pauseReason, 'FAILING', 'scaled')
  t.end()
})

t.test('an exhausted delivery pauses when nothing was accepted since its first attempt', (t) => {
  const exhausted = result(1000, { exhausted: true, firstAttemptAt: at(100) })
  t.equal(run(freshHealth, exhausted).pauseReason, 'EXHAUSTED')
  t.equal(run(freshHealth, result(99, { ok: true }), exhausted).pauseReason, 'EXHAUSTED')
  t.equal(run(freshHealth, result(100, { ok: true }), exhausted).status, 'ACTIVE')
  t.end()
})

t.test('pausing twice keeps the reason, resuming ends streak and breaker and starts slowly', (t) => {
  const gone = run(freshHealth, ...failures(10), result(1, { gone: true }))
  t.equal(paused(gone), gone)
  const back = resumed(gone)
  t.match(back, {
    status: 'ACTIVE',
    pauseReason: null,
    streak: { attempts: 0, deliveries: 0, since: null },
    breaker: { probeAt: null },
    pace: { inFlight: 1 },
  })
  t.equal(resumed(back), back)
  t.equal(paused(freshHealth).pauseReason, 'MANUAL')
  t.end()
})

t.test('a failure while paused counts but gives no other reason', (t) => {
  const health = run(paused(freshHealth), result(0, { gone: true }))
  t.match(health, { status: 'PAUSED', pauseReason: 'MANUAL', streak: { attempts: 1 } })
  t.end()
})

t.test('a receiver that is down for a day: breaker, probes and pause on a virtual clock', (t) => {
  let health: EndpointHealth = freshHealth
  let probes = 0
  let nowMs = startMs
  for (let step = 0; health.status === 'ACTIVE' && step < 1000; step++) {
    const probe = health.breaker.probeAt !== null
    if (health.breaker.probeAt !== null) {
      nowMs = health.breaker.probeAt.getTime()
      probes += 1
    } else nowMs += 5000
    const failed = result((nowMs - startMs) / 1000, { probe, firstAttemptAt: new Date(nowMs) })
    health = afterAttempt(health, failed, plain)
  }
  t.equal(health.pauseReason, 'FAILING')
  t.ok(nowMs - startMs >= 24 * hourMs && nowMs - startMs < 24 * hourMs + 360_000)
  t.ok(probes > 285 && probes < 295, `${probes} probes`)
  t.end()
})
