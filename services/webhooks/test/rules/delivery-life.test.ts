import fc from 'fast-check'
import t from 'tap'
import {
  attemptDelayMs,
  judgeAttempt,
  type Place,
  placeAfterInterruption,
} from '../../src/rules/retry-schedule.ts'
import {
  afterAttempt,
  type AttemptResult,
  backlogOwedFor,
  type EndpointHealth,
  freshHealth,
  paused,
  resumed,
} from '../../src/rules/endpoint-health.ts'

const hourMs = 3_600_000
const startMs = Date.parse('2026-11-20T00:00:00.000Z')

type Judge = typeof judgeAttempt
type Attempt = { readonly ms: number; readonly random: number; readonly askedMs: number | null }
type Move =
  | ({ readonly kind: 'attempt' } & Attempt)
  | { readonly kind: 'interrupted'; readonly ms: number; readonly random: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'until-due' | 'others-fail' | 'other-succeeds' | 'retry' | 'pause' | 'resume' }
  /** `dies`: the worker dies after it pulled the backlog forward and before it recorded that. */
  | { readonly kind: 'pull'; readonly dies: boolean }

/**
 * One delivery of an endpoint that answers others, too, pauses, and loses its workers, on a virtual clock.
 */
class Life {
  broken: string | null = null
  #judge: Judge
  #scaleMs: (ms: number) => number
  #nowMs = startMs
  #health: EndpointHealth = freshHealth
  #doneFor: Date | null = null
  #status: 'PENDING' | 'HELD' | 'FAILED' = 'PENDING'
  #place: Place = { step: 1, stepDueAt: new Date(startMs) }
  #dueMs = startMs
  #manual = false
  #firstMs: number | null = null
  #lastMs = 0
  #pulledFor: Date | null = null
  #steps = 0
  /** Reasons to send it beside the schedule since it was last sent. */
  #reasons = 0
  #closings = new Set<number>()

  constructor(judge: Judge, scale: number) {
    this.#judge = judge
    this.#scaleMs = (ms) => (ms <= 0 ? 0 : Math.max(1, Math.round(ms / scale)))
  }

  apply(move: Move): void {
    if (this.#status === 'FAILED') return
    if (move.kind === 'wait') this.#nowMs += move.ms
    if (move.kind === 'until-due') this.#waitUntilDue()
    if (move.kind === 'attempt' && this.#mayGo()) this.#attempt(move)
    if (move.kind === 'interrupted' && this.#mayGo()) this.#interrupted(move.ms, move.random)
    if (move.kind === 'others-fail') for (let count = 0; count < 10; count++) this.#settle({})
    if (move.kind === 'other-succeeds') this.#otherSucceeds()
    if (move.kind === 'retry' && this.#status === 'PENDING') this.#retry()
    if (move.kind === 'pause') this.#health = paused(this.#health)
    if (move.kind === 'resume') this.#resume()
    if (move.kind === 'pull') this.#pull(move.dies)
    if (this.#health.status === 'PAUSED') this.#hold()
    const waits = this.#status === 'PENDING' && this.#reasons === 0
    this.#check(!waits || this.#dueMs <= this.#place.stepDueAt.getTime(), 'due later than its step')
  }

  /** Every later attempt fails. */
  end(): void {
    for (let left = 0; left < 40; left++) {
      this.apply({ kind: 'resume' })
      this.apply({ kind: 'until-due' })
      this.apply({ kind: 'attempt', ms: 0, random: 0, askedMs: null })
    }
    this.#check(this.#status === 'FAILED', 'a delivery that only fails has no end')
    this.#check(this.#steps >= 12, 'FAILED before all steps were made')
    const livedMs = this.#lastMs - (this.#firstMs ?? 0)
    this.#check(livedMs >= this.#scaleMs(23 * hourMs), 'FAILED before 23 hours')
  }

  #check(holds: boolean, invariant: string): void {
    if (!holds) this.broken ??= invariant
  }

  #waitUntilDue(): void {
    if (this.#status !== 'PENDING') return
    const probeMs = this.#manual ? 0 : (this.#health.breaker.probeAt?.getTime() ?? 0)
    this.#nowMs = Math.max(this.#nowMs, this.#dueMs, probeMs)
  }

  #mayGo(): boolean {
    const { probeAt } = this.#health.breaker
    const passes = this.#manual || probeAt === null || probeAt.getTime() <= this.#nowMs
    return this.#status === 'PENDING' && this.#dueMs <= this.#nowMs && passes
  }

  #begin(): void {
    this.#lastMs = this.#nowMs
    this.#firstMs ??= this.#nowMs
    if (this.#nowMs >= this.#place.stepDueAt.getTime()) this.#steps += 1
    else this.#check(this.#reasons > 0, 'sent before its time without a reason')
    this.#reasons = 0
  }

  #attempt({ ms, random, askedMs }: Attempt): void {
    this.#begin()
    const startedMs = this.#nowMs
    const before = this.#place
    const probe = this.#health.breaker.probeAt !== null && !this.#manual
    this.#nowMs += ms
    const judged = this.#judge({
      ...this.#sent(startedMs, random),
      ...{ ok: false, single: false, at: new Date(this.#nowMs), retryAfterMs: askedMs },
    })
    this.#settle({ probe, exhausted: judged.kind === 'failed' })
    this.#pulledFor = this.#health.breaker.closedAt ?? null
    this.#manual = false
    if (judged.kind !== 'retry') {
      this.#status = 'FAILED'
      return
    }
    this.#place = judged.place
    this.#dueMs = judged.place.stepDueAt.getTime()
    this.#checkPlace(before, startedMs, askedMs === null ? 0 : this.#nowMs + askedMs)
  }

  #sent(startedMs: number, random: number) {
    const firstAttemptAt = new Date(this.#firstMs ?? startedMs)
    const startedAt = new Date(startedMs)
    return { place: this.#place, startedAt, firstAttemptAt, random, scaleMs: this.#scaleMs }
  }

  #checkPlace(before: Place, startedMs: number, askedAtMs: number): void {
    const dueMs = this.#place.stepDueAt.getTime()
    const beforeMs = before.stepDueAt.getTime()
    if (startedMs < beforeMs) {
      this.#check(this.#place.step === before.step, 'a pulled-forward attempt used up a step')
      this.#check(dueMs === Math.max(beforeMs, askedAtMs), 'the step that was due did not stay so')
      return
    }
    const longestMs = this.#scaleMs(attemptDelayMs(before.step + 1, 1) ?? 0)
    this.#check(dueMs <= Math.max(this.#nowMs + longestMs, askedAtMs), 'later than the schedule has it')
  }

  #interrupted(ms: number, random: number): void {
    this.#begin()
    this.#place = placeAfterInterruption(this.#sent(this.#nowMs, random))
    this.#nowMs += ms
    this.#dueMs = this.#nowMs
    this.#reasons += 1
  }

  #settle(fields: Partial<AttemptResult>): void {
    const result: AttemptResult = {
      ...{ ok: false, gone: false, probe: false, eventType: 'round.started', exhausted: false },
      ...{ failedInStreak: null, firstAttemptAt: new Date(this.#firstMs ?? this.#nowMs) },
      ...{ at: new Date(this.#nowMs), ...fields },
    }
    this.#health = afterAttempt(this.#health, result, this.#scaleMs)
  }

  #otherSucceeds(): void {
    const before = this.#health
    this.#settle({ ok: true })
    if (before.breaker.probeAt !== null) return
    this.#check(this.#health.pace.inFlight >= before.pace.inFlight, 'a success lowered the pace')
    const [was, is] = [before, this.#health].map((health) => backlogOwedFor(health, this.#doneFor)?.getTime())
    this.#check(was === is, 'a success without an open breaker pulled the backlog forward')
  }

  #retry(): void {
    this.#manual = true
    this.#dueMs = this.#nowMs
    this.#reasons += 1
  }

  #hold(): void {
    if (this.#status === 'PENDING') this.#status = 'HELD'
  }

  #resume(): void {
    this.#health = resumed(this.#health)
    if (this.#status !== 'HELD') return
    this.#status = 'PENDING'
    this.#dueMs = this.#nowMs
    this.#reasons += 1
  }

  #pull(dies: boolean): void {
    const closedAt = backlogOwedFor(this.#health, this.#doneFor)
    if (closedAt === null) return
    const waits = this.#status === 'PENDING' && this.#dueMs > this.#nowMs
    if (waits && (this.#pulledFor === null || this.#pulledFor < closedAt)) {
      this.#check(!this.#closings.has(closedAt.getTime()), 'pulled forward twice for one opening')
      this.#closings.add(closedAt.getTime())
      this.#pulledFor = closedAt
      this.#dueMs = this.#nowMs
      this.#reasons += 1
    }
    if (!dies) this.#doneFor = closedAt
  }
}

/** @returns the first invariant that broke, else null. */
function play(moves: readonly Move[], judge: Judge, scale: number): string | null {
  const life = new Life(judge, scale)
  for (const move of moves) life.apply(move)
  life.end()
  return life.broken
}

const kindOf = <Kind extends Move['kind']>(kind: Kind) => fc.constant(kind)
const ms = fc.integer({ min: 0, max: 15_000 })
const longMs = fc.integer({ min: 0, max: 5 * hourMs })
const random = fc.double({ min: 0, max: 1, noNaN: true })
const askedMs = fc.option(fc.integer({ min: 0, max: hourMs }), { freq: 8 })
const plainKinds = ['until-due', 'others-fail', 'other-succeeds', 'retry', 'pause', 'resume'] as const
const moves = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom(...plainKinds) }) },
    { weight: 4, arbitrary: fc.record({ kind: kindOf('attempt'), ms, random, askedMs }) },
    { weight: 1, arbitrary: fc.record({ kind: kindOf('interrupted'), ms, random }) },
    { weight: 1, arbitrary: fc.record({ kind: kindOf('wait'), ms: fc.oneof(ms, longMs) }) },
    { weight: 2, arbitrary: fc.record({ kind: kindOf('pull'), dies: fc.boolean() }) },
  ),
  { maxLength: 80, size: 'max' },
)
const lives = (judge: Judge) =>
  fc.property(moves, fc.constantFrom(1, 1000), (played, scale) => {
    const broken = play(played, judge, scale)
    if (broken !== null) throw new Error(broken)
  })

t.test(
  'a delivery fails only after all steps and 23 hours, and is never due later than its schedule',
  (t) => {
    fc.assert(lives(judgeAttempt), { numRuns: 3000 })
    t.end()
  },
)

t.test('the search finds a rule that counts a pulled-forward attempt, and one that ends too early', (t) => {
  const burning: Judge = (attempt) =>
    judgeAttempt({ ...attempt, place: { ...attempt.place, stepDueAt: attempt.startedAt } })
  const early: Judge = (attempt) => judgeAttempt({ ...attempt, firstAttemptAt: new Date(0) })
  t.ok(fc.check(lives(burning), { numRuns: 3000 }).failed)
  t.ok(fc.check(lives(early), { numRuns: 3000 }).failed)
  t.end()
})
