import t from 'tap'
import { createLimiters, type Limiters, type LimiterRules } from '../../src/limits/limiters.ts'

const rule = { kind: 'bucket', perSecond: 100, burst: 200 } as const
const perMinute = { kind: 'window', count: 30, windowMs: 60_000 } as const

/** Gateways on virtual time whose messages take `delayMs`. */
function replicas(count: number, delayMs: number) {
  let nowMs = 0
  let queue: { atMs: number; fn: () => void }[] = []
  const later = (fn: () => void, ms: number) => {
    const entry = { atMs: nowMs + ms, fn }
    queue.push(entry)
    return () => {
      queue = queue.filter((one) => one !== entry)
    }
  }
  const all: Limiters[] = []
  for (let index = 0; index < count; index++) {
    const publish = (data: Uint8Array) => {
      for (const one of all) later(() => one.receive(data), delayMs)
    }
    all.push(
      createLimiters({ rules: allRules(), replicaId: `r${index}`, publish, nowMs: () => nowMs, later }),
    )
  }
  const advance = (ms: number) => {
    const untilMs = nowMs + ms
    for (;;) {
      const due = queue.filter(({ atMs }) => atMs <= untilMs).toSorted((a, b) => a.atMs - b.atMs)[0]
      if (due === undefined) break
      queue = queue.filter((one) => one !== due)
      nowMs = Math.max(nowMs, due.atMs)
      due.fn()
    }
    nowMs = untilMs
  }
  return { all, advance }
}

function allRules(): LimiterRules {
  return {
    operator: rule,
    account: rule,
    launcher: rule,
    dashboard: rule,
    mintAddress: perMinute,
    mintKey: perMinute,
    mintPair: perMinute,
    loginAddress: perMinute,
    loginEmail: perMinute,
    address: rule,
    callback: rule,
    loginFailures: perMinute,
  }
}

await t.test('the sum over gateways is the limit within 2 % under a steady overload of ten times', (t) => {
  for (const [count, delayMs] of [
    [1, 1],
    [2, 1],
    [2, 20],
    [3, 5],
    [5, 5],
  ] as const) {
    const { all, advance } = replicas(count, delayMs)
    let admitted = 0
    for (let ms = 0; ms < 20_000; ms++) {
      if (all[ms % count]?.take('operator', 'k').allowed === true) admitted += 1
      advance(1)
    }
    const limit = rule.burst + 20 * rule.perSecond
    t.ok(
      Math.abs(admitted - limit) <= 0.02 * limit,
      `${count} gateways, ${delayMs} ms apart: ${admitted} of ${limit}`,
    )
  }
  t.end()
})

await t.test('a lone client has the full burst through any one gateway, and its rate afterwards', (t) => {
  const { all, advance } = replicas(2, 1)
  let admitted = 0
  for (let request = 0; request < 300; request++)
    if (all[1]?.take('operator', 'k').allowed === true) admitted += 1
  t.equal(admitted, 200)
  advance(100)
  const elsewhere = all[0]?.take('operator', 'k')
  t.match(elsewhere, { allowed: true, limit: 200, resetS: 2 })
  t.ok(Number(elsewhere?.remaining) < 10, 'the other gateway knows')
  t.equal(all[0]?.take('operator', 'other').allowed, true, 'another key is another client')
  t.end()
})

await t.test('a limit holds where a request is judged before it counts, however many are under way', (t) => {
  const { all, advance } = replicas(2, 5)
  const judgedAfterMs = 50
  const underWay: { atMs: number; gateway: Limiters | undefined }[] = []
  let passed = 0
  for (let ms = 0; ms < 20_000; ms++) {
    const gateway = all[ms % 2]
    if (gateway?.peek('address', 'k').allowed === true) {
      passed += 1
      underWay.push({ atMs: ms + judgedAfterMs, gateway })
    }
    while (underWay[0] !== undefined && underWay[0].atMs <= ms)
      underWay.shift()?.gateway?.book('address', 'k')
    advance(1)
  }
  const limit = rule.burst + 20 * rule.perSecond
  t.ok(passed <= limit + judgedAfterMs, `${passed} of ${limit}`)
  t.end()
})

await t.test('a client just below its limit is never refused', (t) => {
  const { all, advance } = replicas(2, 5)
  let refused = 0
  for (let ms = 0; ms < 20_000; ms += 11) {
    if (all[(ms / 11) % 2]?.take('operator', 'k').allowed === false) refused += 1
    advance(11)
  }
  t.equal(refused, 0)
  t.end()
})

await t.test('a per-minute limit holds in any 60 s, over all gateways', (t) => {
  const { all, advance } = replicas(2, 1)
  const admittedAt: number[] = []
  for (let ms = 0; ms < 180_000; ms += 50) {
    if (all[(ms / 50) % 2]?.take('mintPair', 'k').allowed === true) admittedAt.push(ms)
    advance(50)
  }
  const most = Math.max(
    ...admittedAt.map((from) => admittedAt.filter((at) => at >= from && at < from + 60_000).length),
  )
  t.equal(most, 30)
  t.equal(admittedAt.length, 90)
  t.equal(all[0]?.take('mintPair', 'k').allowed, true, 'the window moves on')
  t.end()
})

await t.test('a gateway that hears nothing still limits what passes through itself', (t) => {
  const limiters = createLimiters({
    rules: allRules(),
    replicaId: 'a',
    publish: () => undefined,
    nowMs: () => 0,
  })
  let admitted = 0
  for (let request = 0; request < 1000; request++) if (limiters.take('operator', 'k').allowed) admitted += 1
  t.equal(admitted, 200)
  limiters.receive(new TextEncoder().encode('rubbish'))
  limiters.receive(new TextEncoder().encode('{"from":"b","let":[["operator","k",-5]]}'))
  t.equal(limiters.take('operator', 'k').allowed, false)
  limiters.stop()
  t.end()
})
