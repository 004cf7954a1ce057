import t from 'tap'
import { eventOfEnd } from '../../src/rules/event-of-end.ts'
import { initialState } from '../../src/records/new-movement.ts'
import { advanceMovement, nextAction } from '../../src/rules/advance-movement.ts'
import { admitStake, closedBreaker, recordOutcome } from '../../src/rules/circuit-breaker.ts'
import {
  type Judgement,
  type MovementMessage,
  type MovementState,
  outcomeOf,
} from '../../src/rules/movement.ts'
import { callTimeoutMs, nextStakeTryAt } from '../../src/rules/retry-schedule.ts'

const rollback = { transactionId: 'rbk_1', reference: 'txn_1', roundClosed: true }
const at = (ms: number) => new Date(ms)

await t.test('a stake is tried at once and 2 s and 5 s later, inside 15 s', async (t) => {
  t.same(nextStakeTryAt(at(0), 0, at(10)), at(10))
  t.same(nextStakeTryAt(at(0), 1, at(500)), at(2000))
  t.same(nextStakeTryAt(at(0), 2, at(2500)), at(5000))
  t.same(nextStakeTryAt(at(0), 2, at(9000)), at(9000))
  t.equal(nextStakeTryAt(at(0), 3, at(6000)), null)
  t.equal(nextStakeTryAt(at(0), 1, at(15_000)), null)
  t.equal(callTimeoutMs(5000, at(0), at(12_000)), 3000)
  t.equal(callTimeoutMs(5000, at(0), at(2000)), 5000)
  t.equal(callTimeoutMs(5000, null, at(12_000_000)), 5000)
})

function run(start: MovementState, messages: readonly MovementMessage[]): MovementState {
  return messages.reduce((state, message) => advanceMovement(state, message, (ms) => ms).state, start)
}
const begun = (ms: number, token: string): MovementMessage => ({
  kind: 'call-begun',
  at: at(ms),
  token,
  leaseMs: 4000,
})
const answered = (ms: number, token: string, judgement: Judgement): MovementMessage => ({
  kind: 'answered',
  at: at(ms),
  token,
  judgement,
  rollback,
})
const yes: Judgement = {
  kind: 'success',
  walletCode: 'OK',
  walletTransactionId: 'w',
  balanceAfter: '1.00',
  unreadable: [],
}
const no: Judgement = { kind: 'refused', code: 'INSUFFICIENT_FUNDS', walletCode: 'INSUFFICIENT_FUNDS' }
const silence: Judgement = { kind: 'unknown', code: 'WALLET_TIMEOUT', walletCode: null, reason: 'silence' }
const down: Judgement = { kind: 'unknown', code: 'WALLET_UNAVAILABLE', walletCode: null, reason: 'down' }

await t.test('a refusal after a try of unknown outcome owes a rollback and keeps the code', async (t) => {
  const stake = run(initialState('BET', at(0)), [
    begun(0, 'a'),
    answered(1000, 'a', silence),
    begun(2000, 'b'),
    answered(2100, 'b', no),
  ])
  t.match(stake, {
    status: 'PENDING',
    walletCode: 'INSUFFICIENT_FUNDS',
    reversal: { type: 'ROLLBACK', transactionId: 'rbk_1' },
  })
  t.same(outcomeOf(stake), { kind: 'pending', code: 'WALLET_TIMEOUT', rollbackOwed: true })
  const ended = run(stake, [
    { kind: 'reversal-placed', at: at(2200), transactionId: 'rbk_1' },
    { kind: 'reversal-acknowledged', at: at(2300), transactionId: 'rbk_1' },
  ])
  t.match(ended, { status: 'ROLLED_BACK', walletCode: 'INSUFFICIENT_FUNDS', dueAt: null })
  t.same(outcomeOf(ended), { kind: 'done' })
})

await t.test('a refusal in a word of the wallet is final and owes a rollback beside it', async (t) => {
  const word: Judgement = { kind: 'refused', code: 'WALLET_REJECTED', walletCode: 'RS_OK', isUnlisted: true }
  const stake = run(initialState('BET', at(0)), [begun(0, 'a'), answered(10, 'a', word)])
  t.match(stake, { status: 'FAILED', walletCode: 'RS_OK', dueAt: at(10), reversal: { ofRefused: true } })
  t.same(outcomeOf(stake), { kind: 'refused', code: 'WALLET_REJECTED' })
  t.equal(
    nextAction(stake, at(10), (ms) => ms),
    'place-reversal',
  )
  for (const kind of ['reversal-acknowledged', 'reversal-given-up'] as const) {
    const ended = run(stake, [
      { kind: 'reversal-placed', at: at(20), transactionId: 'rbk_1' },
      { kind, at: at(30), transactionId: 'rbk_1' },
    ])
    t.match(ended, { status: 'FAILED', refusalCode: 'WALLET_REJECTED', dueAt: null })
    t.same(eventOfEnd({ ...ended, attempts: [] }), { type: 'transaction.failed', at: at(10) }, kind)
  }
  const back = { ...initialState('ROLLBACK', at(10)), ofRefused: true as const }
  const done = advanceMovement(run(back, [begun(20, 'b')]), answered(30, 'b', yes), (ms) => ms)
  t.match(done, { kind: 'applied', event: null, state: { status: 'SUCCESS' } })
  t.equal(eventOfEnd({ ...done.state, attempts: [] }), null)
})

await t.test('the first outcome is repeated while the movement is pending', async (t) => {
  const stake = run(initialState('BET', at(0)), [
    begun(0, 'a'),
    answered(10, 'a', down),
    begun(2000, 'b'),
    answered(3000, 'b', silence),
  ])
  t.same(outcomeOf(stake), { kind: 'pending', code: 'WALLET_UNAVAILABLE', rollbackOwed: false })
})

await t.test('a time that a clock a day ahead has set counts as come', async (t) => {
  const dayMs = 24 * 60 * 60 * 1000
  const same = (ms: number) => ms
  const win = run(initialState('WIN', at(0)), [begun(dayMs, 'a'), answered(dayMs + 10, 'a', down)])
  t.ok((win.dueAt ?? at(0)) > at(dayMs), 'the clock that was ahead has written its own time')
  t.equal(nextAction(win, at(1000), same), 'call')
  const stake = run(initialState('BET', at(dayMs)), [begun(dayMs, 'a')])
  t.equal(nextAction(stake, at(1000), same), 'call-lost')
  const lost = run(stake, [{ kind: 'call-lost', at: at(1000) }])
  t.match(lost, { status: 'PENDING', call: null, unknownTries: 1 })
  const waiting = { ...win, dueAt: at(6 * 60 * 60 * 1000) }
  t.equal(nextAction(waiting, at(0), same), 'wait', 'the longest delay of the schedule is no mistake')
  const held = run(initialState('BET', at(0)), [begun(0, 'a')])
  t.equal(
    nextAction(held, at(1000), () => 1),
    'wait',
    'a call is held as long under every time scale',
  )
})

await t.test('a stake is tried three times at most', async (t) => {
  const stake = run(initialState('BET', at(0)), [
    begun(0, 'a'),
    answered(10, 'a', down),
    begun(2000, 'b'),
    answered(2010, 'b', down),
    begun(5000, 'c'),
    answered(5010, 'c', down),
  ])
  t.match(stake, { status: 'PENDING', tries: 3, reversal: { type: 'ROLLBACK', origin: 'service' } })
  t.equal(
    nextAction(stake, at(5010), (ms) => ms),
    'place-reversal',
  )
})

await t.test("the wallet's tombstone ends a stake at once, for the first caller as a refusal", async (t) => {
  const tombstone: Judgement = { kind: 'rolled-back', walletCode: 'TRANSACTION_ROLLED_BACK' }
  const first = run(initialState('BET', at(0)), [begun(0, 'a'), answered(10, 'a', tombstone)])
  t.match(first, { status: 'ROLLED_BACK', reversal: null })
  t.same(outcomeOf(first), { kind: 'refused', code: 'WALLET_REJECTED' })
  const later = run(initialState('BET', at(0)), [
    begun(0, 'a'),
    answered(10, 'a', down),
    begun(2000, 'b'),
    answered(2010, 'b', tombstone),
  ])
  t.match(later, { status: 'ROLLED_BACK' })
  t.same(outcomeOf(later), { kind: 'done' })
})

await t.test('a credit is tried by its age, after any answer and any hint', async (t) => {
  const win = run(initialState('WIN', at(0)), [begun(0, 'a'), answered(10, 'a', no)])
  t.match(win, { status: 'PENDING', walletCode: 'INSUFFICIENT_FUNDS', dueAt: at(1010) })
  const hinted = run(win, [{ kind: 'hinted', at: at(20) }, begun(20, 'b'), answered(30, 'b', down)])
  t.match(hinted, { status: 'PENDING', dueAt: at(1030), tries: 2 })
  const third = run(hinted, [begun(1030, 'c'), answered(1040, 'c', down)])
  t.match(third, { dueAt: at(3000), tries: 3 }, 'not 5 s after the third try: its age has one in 1.96 s')
  t.match(run(third, [begun(3000, 'd'), answered(3010, 'd', yes)]), {
    status: 'SUCCESS',
    balanceAfter: '1.00',
  })
})

await t.test('each forbidden reversal is refused with its code', async (t) => {
  const asked = (type: 'REFUND' | 'ROLLBACK', transactionId = 'ref_1'): MovementMessage => ({
    kind: 'reversal-asked',
    at: at(100),
    type,
    reversal: { transactionId, reference: 'txn_2' },
    requestHash: '',
    roundClosed: true,
  })
  const of = (type: MovementState['type'], status: MovementState['status']) => ({
    ...initialState(type, at(0)),
    status,
  })
  const code = (state: MovementState, type: 'REFUND' | 'ROLLBACK') => {
    const step = advanceMovement(state, asked(type), (ms) => ms)
    return step.kind === 'refused' ? step.code : step.kind
  }
  t.equal(code(of('BET', 'SUCCESS'), 'REFUND'), 'applied')
  t.equal(code(of('BET', 'SUCCESS'), 'ROLLBACK'), 'applied')
  t.equal(code(of('BET', 'PENDING'), 'ROLLBACK'), 'applied')
  t.equal(code(of('WIN', 'SUCCESS'), 'ROLLBACK'), 'applied')
  t.equal(code(of('BET', 'PENDING'), 'REFUND'), 'CONFLICT')
  t.equal(code(of('BET', 'FAILED'), 'REFUND'), 'CONFLICT')
  t.equal(code(of('BET', 'FAILED'), 'ROLLBACK'), 'CONFLICT')
  t.equal(code(of('WIN', 'PENDING'), 'ROLLBACK'), 'CONFLICT')
  t.equal(code(of('WIN', 'SUCCESS'), 'REFUND'), 'VALIDATION_ERROR')
  t.equal(code(of('REFUND', 'SUCCESS'), 'ROLLBACK'), 'VALIDATION_ERROR')
  t.equal(code(of('ROLLBACK', 'PENDING'), 'ROLLBACK'), 'VALIDATION_ERROR')
  t.equal(code(of('BET', 'REFUNDED'), 'ROLLBACK'), 'TRANSACTION_ALREADY_REVERSED')
  t.equal(code(of('BET', 'ROLLED_BACK'), 'REFUND'), 'TRANSACTION_ALREADY_REVERSED')
  const taken = run(of('BET', 'SUCCESS'), [asked('REFUND')])
  const step = advanceMovement(taken, asked('ROLLBACK', 'rbk_9'), (ms) => ms)
  t.equal(step.kind === 'refused' ? step.code : step.kind, 'TRANSACTION_ALREADY_REVERSED')
})

await t.test('a person ends only movements that are owed', async (t) => {
  const resolve = (state: MovementState, as: 'success' | 'failed') =>
    advanceMovement(state, { kind: 'resolved', at: at(9), as, rollback }, (ms) => ms)
  t.match(resolve(initialState('WIN', at(0)), 'success'), { kind: 'applied', event: 'transaction.win' })
  t.match(resolve(initialState('WIN', at(0)), 'failed'), { kind: 'applied', event: 'transaction.failed' })
  t.match(resolve(initialState('BET', at(0)), 'success'), { kind: 'refused', code: 'CONFLICT' })
  t.match(resolve(run(initialState('WIN', at(0)), [begun(0, 'a')]), 'success'), { kind: 'refused' })
  t.match(resolve({ ...initialState('WIN', at(0)), status: 'SUCCESS' }, 'failed'), { kind: 'refused' })
})

await t.test('the breaker opens at 10 unknown in a row and closes at the first answer', async (t) => {
  const scale = (ms: number) => ms
  let state = closedBreaker
  for (let n = 0; n < 9; n++) state = recordOutcome(state, false, n, scale)
  t.equal(admitStake(state, 10, scale).admitted, true)
  state = recordOutcome(state, false, 10, scale)
  t.equal(admitStake(state, 11, scale).admitted, false)
  t.equal(admitStake(state, 5009, scale).admitted, false)
  const probe = admitStake(state, 5010, scale)
  t.equal(probe.admitted, true)
  t.equal(admitStake(probe.state, 5011, scale).admitted, false, 'one probe every 5 s')
  const stillOpen = recordOutcome(probe.state, false, 5100, scale)
  t.equal(admitStake(stillOpen, 5200, scale).admitted, false)
  t.same(recordOutcome(stillOpen, true, 5300, scale), closedBreaker)
})

await t.test('the breaker opens when half of at least 20 calls in 30 s are unknown', async (t) => {
  const scale = (ms: number) => ms
  let state = closedBreaker
  for (let n = 0; n < 19; n++) state = recordOutcome(state, n % 2 === 0, n * 100, scale)
  t.equal(state.probeAtMs, null, '19 calls are too few')
  state = recordOutcome(state, false, 1900, scale)
  t.not(state.probeAtMs, null)
  let slow = closedBreaker
  for (let n = 0; n < 60; n++) slow = recordOutcome(slow, n % 2 === 0, n * 2000, scale)
  t.equal(slow.probeAtMs, null, 'the window forgets')
  t.ok(slow.window.length <= 30)
})
