import { createTimeScale } from '@pitboss/runtime/clock'
import fc from 'fast-check'
import t from 'tap'
import { advanceMovement, nextAction } from '../../src/rules/advance-movement.ts'
import type { Judgement, MovementMessage, MovementState } from '../../src/rules/movement.ts'
import { nextOwedTryAt, nextTryWithinMs } from '../../src/rules/retry-schedule.ts'
import { initialState } from '../../src/records/new-movement.ts'

const s = 1000
const min = 60 * s
const h = 60 * min
const startMs = Date.UTC(2026, 10, 22, 12)
const leaseMs = 18 * s
const rollback = { transactionId: 'rbk_1', reference: 'txn_1', roundClosed: true }

/** As docs/contract.md, section 5 says: up to which age which delay lies between two tries. */
const delays = [1 * s, 2 * s, 5 * s, 15 * s, 30 * s, min, 2 * min, 5 * min, 10 * min, 30 * min]
const written: readonly [untilMs: number, delayMs: number][] = [
  ...delays.map((delay, n): [number, number] => [
    delays.slice(0, n + 1).reduce((sum, one) => sum + one, 0),
    delay,
  ]),
  [24 * h, h],
  [Number.POSITIVE_INFINITY, 6 * h],
]
/**
 * Scaled delays are whole milliseconds: of a delay it makes at most one, of an age at most as many as it has
 * steps.
 */
const allowedMs = (ageMs: number, factor: number) => {
  if (factor === 1) return written.find(([untilMs]) => ageMs < untilMs)?.[1] ?? 0
  const delay = written.find(([untilMs]) => (ageMs + 20) * factor < untilMs)?.[1] ?? 0
  return delay / factor + 1
}

const no: Judgement = { kind: 'refused', code: 'WALLET_REJECTED', walletCode: 'NO' }
const silence: Judgement = { kind: 'unknown', code: 'WALLET_TIMEOUT', walletCode: null, reason: 'silence' }
const down: Judgement = { kind: 'unknown', code: 'WALLET_UNAVAILABLE', walletCode: null, reason: 'down' }

type Step =
  | { readonly kind: 'try'; readonly lateMs: number; readonly takesMs: number; readonly judgement: Judgement }
  | { readonly kind: 'lost'; readonly lateMs: number }
  | { readonly kind: 'breaker-closes' | 'hint' | 'nothing'; readonly waitedShare: number }

const late = fc.integer({ min: 0, max: 3 * s })
const share = fc.double({ min: 0, max: 1, noNaN: true })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('try' as const),
        lateMs: late,
        takesMs: fc.integer({ min: 0, max: 15 * s }),
        judgement: fc.constantFrom(no, silence, down),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('lost' as const), lateMs: late }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom('breaker-closes' as const, 'hint' as const, 'nothing' as const),
        waitedShare: share,
      }),
    },
  ),
  { minLength: 1, maxLength: 120, size: 'max' },
)

/** A credit on a clock of its own, which goes on to the next try when nothing brings it forward. */
function createStory(type: MovementState['type'], factor: number) {
  const { scaleMs } = createTimeScale(factor)
  let nowMs = startMs
  let state = initialState(type, new Date(nowMs))
  let tries = 0
  const send = (message: MovementMessage) => {
    state = advanceMovement(state, message, scaleMs).state
  }
  const dueMs = () => state.dueAt?.getTime() ?? Number.POSITIVE_INFINITY
  const begin = (lateMs: number) => {
    nowMs = Math.max(nowMs, dueMs()) + lateMs
    tries += 1
    send({ kind: 'call-begun', at: new Date(nowMs), token: `call ${tries}`, leaseMs })
  }
  return {
    state: () => state,
    nowMs: () => nowMs,
    dueMs,
    tell: (step: Step) => {
      if (step.kind === 'try') {
        begin(step.lateMs)
        nowMs += step.takesMs
        const { judgement } = step
        send({ kind: 'answered', at: new Date(nowMs), token: `call ${tries}`, judgement, rollback })
        return
      }
      if (step.kind === 'lost') {
        begin(step.lateMs)
        nowMs += leaseMs
        send({ kind: 'call-lost', at: new Date(nowMs) })
        return
      }
      nowMs += Math.floor(Math.max(0, dueMs() - nowMs) * step.waitedShare)
      const at = new Date(nowMs)
      if (step.kind === 'hint') send({ kind: 'hinted', at })
      // As the store does it for all that wait for a wallet.
      else if (step.kind === 'breaker-closes' && dueMs() > nowMs) state = { ...state, dueAt: at }
      else if (step.kind === 'nothing') {
        send({ kind: 'budget-spent', at, rollback })
        send({ kind: 'call-lost', at })
        send({ kind: 'answered', at, token: 'call 0', judgement: no, rollback })
        send({ kind: 'void-asked', at, rollback, requestHash: '' })
        send({ kind: 'reversal-acknowledged', at, transactionId: 'rbk_9' })
        send({ kind: 'reversal-given-up', at, transactionId: 'rbk_9' })
      }
    },
  }
}

const types = fc.constantFrom('WIN' as const, 'REFUND' as const, 'ROLLBACK' as const)
const factors = fc.constantFrom(1, 120, 600, 100_000)

t.test('at any age the next try is at most as far away as the retry schedule says', (t) => {
  fc.assert(
    fc.property(types, factors, steps, (type, factor, told) => {
      const story = createStory(type, factor)
      for (const step of told) {
        story.tell(step)
        const ageMs = story.nowMs() - startMs
        const waitMs = story.dueMs() - story.nowMs()
        if (waitMs > allowedMs(ageMs, factor)) return false
      }
      return story.state().status === 'PENDING'
    }),
    { numRuns: 500 },
  )
  t.end()
})

t.test('a failed try is never repeated at once', (t) => {
  fc.assert(
    fc.property(types, factors, steps, (type, factor, told) => {
      const story = createStory(type, factor)
      return told.every((step) => {
        story.tell(step)
        if (step.kind !== 'try' && step.kind !== 'lost') return true
        const waitMs = story.dueMs() - story.nowMs()
        const now = new Date(story.nowMs())
        const { scaleMs } = createTimeScale(factor)
        return waitMs >= Math.max(1, s / factor - 1) && nextAction(story.state(), now, scaleMs) === 'wait'
      })
    }),
    { numRuns: 500 },
  )
  t.end()
})

t.test('a hint, or a wallet that answers again, never delays a try', (t) => {
  fc.assert(
    fc.property(types, factors, steps, (type, factor, told) => {
      const story = createStory(type, factor)
      return told.every((step) => {
        const before = story.dueMs()
        story.tell(step)
        return step.kind === 'try' || step.kind === 'lost' || story.dueMs() <= before
      })
    }),
    { numRuns: 500 },
  )
  const overdue = { ...initialState('WIN', new Date(startMs)), dueAt: new Date(startMs) }
  const hinted = advanceMovement(overdue, { kind: 'hinted', at: new Date(startMs + h) }, (ms) => ms)
  t.same(hinted.state.dueAt, overdue.dueAt, 'one that is due keeps its place among those that are')
  t.end()
})

const unscaled = (ms: number) => ms
const nextMs = (ageMs: number, tries: number, createdMs = 0) =>
  nextOwedTryAt({ createdAt: new Date(createdMs), tries }, new Date(ageMs), unscaled).getTime()

t.test('tries that fail at once come after the delays of the contract, one after the other', (t) => {
  const waits: number[] = []
  for (let ageMs = 0, tries = 1; ageMs < 40 * h; tries++) {
    const next = nextMs(ageMs, tries)
    waits.push(next - ageMs)
    ageMs = next
  }
  t.same(waits.slice(0, 10), [1 * s, 2 * s, 5 * s, 15 * s, 30 * s, min, 2 * min, 5 * min, 10 * min, 30 * min])
  t.same(new Set(waits.slice(10, 34)), new Set([h]), 'then hourly, while the next hour begins within 24 h')
  t.same(new Set(waits.slice(34)), new Set([6 * h]), 'then every 6 h, for ever')
  t.end()
})

t.test('a try that was brought forward leaves the next one at its age', (t) => {
  t.equal(nextMs(30 * s, 100), 53 * s)
  t.equal(nextMs(10 * min, 100), (18 * 60 + 53) * s)
  t.equal(nextMs(7.9 * s, 100), 8.9 * s, 'but a second after the last one at the earliest')
  t.equal(nextMs(30 * 24 * h, 100), nextMs(30 * 24 * h + 1, 100), 'the ages stand, however old it is')
  t.end()
})

t.test('a try that took long, or was lost with its process, does not delay the next', (t) => {
  t.equal(nextMs(15 * s, 1), 16 * s)
  t.equal(nextMs(24 * s, 2), 26 * s)
  t.equal(nextMs(10 * h, 3), 10 * h + 5 * s, 'also when the service itself was down for hours')
  t.end()
})

t.test('a clock that was ahead delays a try by at most a minute', (t) => {
  t.equal(nextMs(0, 1, 50), 1 * s)
  t.equal(nextMs(0, 4, 24 * h), 15 * s)
  t.equal(nextMs(0, 100, 24 * h), min)
  t.end()
})

t.test('the longest wait at an age is that of the contract, scaled as the tries are', (t) => {
  for (const [ageMs, withinMs] of [
    [-5, 1 * s],
    [0, 1 * s],
    [999, 1 * s],
    [1 * s, 2 * s],
    [53 * s, min],
    [10 * min, 10 * min],
    [20 * min, 30 * min],
    [49 * min, h],
    [24 * h - 1, h],
    [25 * h, 6 * h],
    [365 * 24 * h, 6 * h],
  ] as const) {
    t.equal(nextTryWithinMs(ageMs, unscaled), withinMs, `at ${ageMs} ms`)
  }
  t.equal(nextTryWithinMs(h, createTimeScale(600).scaleMs), (6 * h) / 600)
  t.throws(() => nextTryWithinMs(Number.NaN, unscaled), RangeError)
  t.end()
})
