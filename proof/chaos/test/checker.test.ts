import t from 'tap'
import type { Told } from '../src/answers.ts'
import { checkGrants } from '../src/check/check-grants.ts'
import type { Absence } from '../src/check/absences.ts'
import { checkLadder } from '../src/check/check-ladder.ts'
import { checkRefusals } from '../src/check/check-refusals.ts'
import { checkSchedule } from '../src/check/check-schedule.ts'
import { longestWaitMs } from '../src/check/ladder.ts'
import type { Movement, Round } from '../src/check/rows.ts'
import { parseSources } from '../src/check/sources.ts'
import { brokenBy, noRows, sampleMovement, sampleRound } from './fixtures/sample-rows.ts'

const startMs = Date.UTC(2026, 0, 1)
const s = 1000
const min = 60 * s
const h = 60 * min
const at = (ms: number) => new Date(startMs + ms).toISOString()

const inDollars = { currency: 'USD', created_at: at(0) } as const
const movement = (more: Partial<Movement>) =>
  sampleMovement({ ...inDollars, amount: '1.00', updated_at: at(0), ...more })
const round = (more: Partial<Round>) =>
  sampleRound({
    ...{ ...inDollars, stake: '1.00', payout: '0.00', free_bet: true, completed_at: at(1) },
    ...more,
  })

await t.test('the longest wait by age is the ladder of the contract, divided by the time scale', (t) => {
  const ages: [ageMs: number, waitMs: number][] = [
    [0, s],
    [999, s],
    [s, 2 * s],
    [3 * s, 5 * s],
    [8 * s, 15 * s],
    [23 * s, 30 * s],
    [53 * s, min],
    [10 * min, 10 * min],
    [20 * min, 30 * min],
    [49 * min, h],
    [22 * h, h],
    [25 * h, 6 * h],
  ]
  for (const [ageMs, waitMs] of ages) {
    t.equal(
      longestWaitMs(ageMs, (ms) => ms),
      waitMs,
      `at ${ageMs} ms`,
    )
    t.equal(
      longestWaitMs(ageMs / 100, (ms) => ms / 100),
      waitMs / 100,
      `at ${ageMs} ms, scaled`,
    )
  }
  t.end()
})

await t.test('a try further away than the scaled ladder has it is found, whatever the pause before', (t) => {
  const timeScale = 600
  const tried = (
    sentMs: number,
    waitMs: number,
    latencyMs: number | null = 10,
    times: Absence[] = [],
    isSetBack = () => false,
  ) => {
    const attempt = {
      ...{ attempt: 5, sent_at: at(sentMs), latency_ms: latencyMs },
      ...{ classification: 'UNKNOWN', request: null },
    }
    const attempts = [{ ...attempt, next_attempt_at: at(sentMs + 10 + waitMs) }]
    return brokenBy((verdict) =>
      checkLadder(
        [{ movement: movement({ type: 'WIN' }), attempts }],
        { timeScale, clockSlackMs: 0, absences: { replicas: 2, times }, isSetBack },
        verdict,
      ),
    )
  }
  const tooFar = ['ladder: the next try is never further away than the age says']
  t.strictSame(tried(10 * s, (6 * h) / timeScale), tooFar)
  t.strictSame(tried(10 * s, h / timeScale), [])
  t.strictSame(tried((25 * h) / timeScale, (6 * h) / timeScale), [])
  const away = (replica: number, fromMs: number, untilMs: number): Absence => {
    const [from, until] = [Date.parse(at(fromMs)), Date.parse(at(untilMs))]
    return { service: 'wallet-bridge', replica, fromMs: from, untilMs: until }
  }
  const both = [away(1, 11 * s, 55 * s), away(2, 5 * s, 20 * s), away(2, 20 * s, 40 * s)]
  t.strictSame(tried(10 * s, 40 * s, null, both), [], 'nobody stood who could find the lost try')
  t.strictSame(tried(10 * s, 40 * s, 10, both), tooFar, 'an answered try has its next one at once')
  t.strictSame(tried(10 * s, 40 * s, null, [away(1, 11 * s, 55 * s), away(2, 45 * s, 50 * s)]), tooFar)
  t.strictSame(tried(10 * s, 60 * s, null, both), tooFar)
  t.strictSame(
    tried(10 * s, 60 * s, null, [], () => true),
    [],
    'it was lost in the copy',
  )
  t.strictSame(
    tried(10 * s, 60 * s, 10, [], () => true),
    tooFar,
  )
  t.end()
})

await t.test('a burnt schedule, a late next attempt and a neighbour that waits are found', (t) => {
  const timeScale = 600
  const delivery = (eventId: string, more: object) => ({
    delivery_id: 'dlv_1',
    webhook_id: 'whe_1',
    event_id: eventId,
    status: 'PENDING',
    attempt_count: 2,
    next_attempt_at: null,
    created_at: at(0),
    ...more,
  })
  const schedule = (
    status: string,
    lastMs: number,
    nextMs: number | null,
    other = 'DELIVERED',
    refusedType = 'transaction.win',
  ) => {
    const refused = {
      ...delivery('evt_no', { status, next_attempt_at: nextMs === null ? null : at(nextMs) }),
      attempts: [0, lastMs].map((ms) => ({ sent_at: at(ms), duration_ms: 5 })),
    }
    const event = {
      id: 'evt_yes',
      type: 'round.started',
      created_at: at(0),
      environment: 'SANDBOX',
      data: {},
    }
    return brokenBy((verdict) =>
      checkSchedule(
        {
          events: [event, { ...event, id: 'evt_no' }],
          deliveries: [delivery('evt_yes', { status: other }), refused],
          clockSlackMs: 0,
        },
        {
          details: [refused],
          stubborn: {
            ...{ webhookId: 'whe_1', refused: new Set(['evt_no']), accepted: new Set(['evt_yes']) },
            refuses: ({ id, type }) => id === 'evt_no' || type === refusedType,
          },
          timeScale,
        },
        verdict,
      ),
    )
  }
  t.strictSame(schedule('PENDING', 20 * s, 24 * s), [])
  t.strictSame(schedule('FAILED', (23.5 * h) / timeScale, null), [])
  t.strictSame(schedule('FAILED', 10 * s, null), [
    'schedule: a delivery fails only after all of its schedule',
  ])
  t.strictSame(schedule('PENDING', 2 * s, 60 * s), [
    'schedule: a refused event is tried again as its age says',
  ])
  t.strictSame(schedule('PENDING', 20 * s, 24 * s, 'PENDING'), [
    'schedule: an event that is always refused holds up no other',
  ])
  t.strictSame(
    schedule('PENDING', 20 * s, 24 * s, 'PENDING', 'round.started'),
    [],
    'one of the refused type whose only attempt was lost waits with the others',
  )
  t.end()
})

await t.test('a refusal that does not stay true is found, one that another request explains is not', (t) => {
  const stake = movement({})
  const rollback = movement({ transaction_id: 'rbk-1', type: 'ROLLBACK', reference_transaction_id: 'bet-1' })
  const debit = {
    ...{ seq: 1, at: at(0), operation: 'debit', transaction_id: 'bet-1', reference_transaction_id: null },
    ...{ round_id: 'w', player_id: 'p', currency: 'USD', amount: '1.00', effect: '-1.00', status: 'APPLIED' },
  }
  const told = (id: string, code: string | null, sentMs: number, answeredMs: number): Told => {
    const isBack = id.startsWith('rbk')
    return {
      what: 'movement',
      id,
      asked: isBack ? { type: 'ROLLBACK', reference_transaction_id: 'bet-1' } : { type: 'BET' },
      answer:
        code === null
          ? { status: 201, body: { reference: 'txn_1' } }
          : { status: 409, body: { code, retryable: code === 'SERVICE_UNAVAILABLE' } },
      token: '',
      at: at(answeredMs),
      sentAtMs: startMs + sentMs,
      answeredAtMs: startMs + answeredMs,
    }
  }
  const refusals = (acceptedMs: number, movements: Movement[], ...entries: Told[]) => {
    const accepted = new Map([
      ['bet-1', { roundId: 'rnd_1', atMs: startMs + acceptedMs }],
      ['rbk-1', { roundId: 'rnd_1', atMs: startMs + acceptedMs }],
    ])
    const sources = parseSources({ ...noRows, movements, ledger: [debit], accepted })
    return brokenBy((verdict) => checkRefusals(entries, sources, verdict))
  }
  const nothing = 'refusals: what was refused for good never has an effect'
  const kept = 'refusals: what was accepted is not refused later'
  const same = 'refusals: an id that was refused for good is refused the same way later'
  const buried = 'refusals: what a rollback has not found is never taken later'
  const refused = told('bet-1', 'ROUND_IN_PROGRESS', 10, 20)
  t.strictSame(refusals(15, [stake], refused), [nothing], 'nobody else asked for it')
  t.strictSame(refusals(15, [stake], refused, told('bet-1', 'SERVICE_UNAVAILABLE', 12, 99)), [nothing])
  t.strictSame(refusals(15, [stake], refused, told('bet-1', null, 9, 99)), [nothing], 'it was under way')
  t.strictSame(refusals(15, [stake], refused, told('bet-1', null, 12, 99)), [nothing], 'it was dead')
  t.strictSame(refusals(25, [stake], refused, told('bet-1', null, 30, 99)), [nothing, same], 'long after')
  const late = told('bet-1', 'BET_LIMIT_EXCEEDED', 30, 99)
  t.strictSame(refusals(25, [], refused, late), [nothing, same], 'another refusal')
  const closed = told('bet-1', 'SESSION_CLOSED', 10, 20)
  t.strictSame(refusals(15, [stake], closed), [nothing], 'nobody else asked for it')
  t.strictSame(refusals(15, [stake], closed, told('bet-1', null, 12, 99)), [], 'judged again')
  t.strictSame(refusals(25, [stake], closed, told('bet-1', 'SERVICE_UNAVAILABLE', 20, 99)), [])
  t.strictSame(refusals(15, [stake], closed, told('bet-1', 'SERVICE_UNAVAILABLE', 9, 99)), [], 'beside it')
  t.strictSame(
    refusals(15, [stake], closed, told('bet-1', 'SERVICE_UNAVAILABLE', 9, 19)),
    [],
    'still at work',
  )
  t.strictSame(refusals(5, [stake], closed, told('bet-1', 'SERVICE_UNAVAILABLE', 1, 19)), [nothing], 'taken')
  t.strictSame(refusals(5, [stake], refused, told('bet-1', 'SERVICE_UNAVAILABLE', 0, 99)), [nothing])
  t.strictSame(refusals(5, [stake], told('bet-1', null, 0, 8), refused), [nothing, kept])
  t.strictSame(
    refusals(5, [rollback], told('rbk-1', null, 0, 8), told('rbk-1', 'TRANSACTION_CONFLICT', 9, 10)),
    [kept],
  )
  t.strictSame(refusals(5, [stake], told('rbk-2', 'TRANSACTION_NOT_FOUND', 10, 20)), [
    'refusals: a stake that was accepted is found by what gives it back',
    buried,
  ])
  t.strictSame(refusals(15, [stake], told('rbk-2', 'TRANSACTION_NOT_FOUND', 10, 20)), [buried])
  t.strictSame(refusals(5, [stake], told('rbk-2', 'TRANSACTION_ALREADY_REVERSED', 10, 20)), [
    'refusals: what is said to be given back already does not stand at the end',
  ])
  t.end()
})

await t.test("what becomes of a page's request is told from what becomes of its stake", (t) => {
  const stake = movement({ transaction_id: 'bet_1' })
  const played = round({ client_transaction_id: 'mine' })
  const key = 'p/dice/mine'
  const told = (code: string, asked: Record<string, unknown> = { stake: '1.00' }): Told => ({
    ...{ what: 'stake', id: key, asked, token: '', at: at(20), sentAtMs: startMs + 10 },
    answer: { status: 409, body: { code, retryable: code === 'SERVICE_UNAVAILABLE' } },
    answeredAtMs: startMs + 20,
  })
  const debit = {
    ...{ seq: 1, at: at(0), operation: 'debit', transaction_id: 'bet_1', reference_transaction_id: null },
    ...{ round_id: 'w', player_id: 'p', currency: 'USD', amount: '1.00', effect: '-1.00', status: 'APPLIED' },
  }
  const broken = (...entries: Told[]) => {
    const accepted = new Map([[key, { roundId: 'rnd_1', atMs: startMs + 15 }]])
    const rows = { ...noRows, movements: [stake], rounds: [played], ledger: [debit], accepted }
    return brokenBy((verdict) => checkRefusals(entries, parseSources(rows), verdict))
  }
  t.strictSame(broken(told('ROUND_IN_PROGRESS')), ['refusals: what was refused for good never has an effect'])
  const conflict = told('TRANSACTION_CONFLICT')
  t.strictSame(broken(conflict), ['refusals: an id is in conflict with another body alone'])
  t.strictSame(broken(conflict, told('SERVICE_UNAVAILABLE', { stake: '2.00' })), [])
  t.end()
})

await t.test('a free bet that is used and not played, or played twice, is found', (t) => {
  const grants = (remaining: number, ...rounds: Round[]) => {
    const grant = { grant_id: 'frb_1', player_id: 'p', game: 'dice', count: 3, remaining }
    return brokenBy((verdict) => checkGrants(parseSources({ ...noRows, grants: [grant], rounds }), verdict))
  }
  const uses = 'free bets: as many are used as free rounds stand'
  t.strictSame(grants(2, round({})), [])
  t.strictSame(grants(2, round({ status: 'VOIDED' })), [uses])
  t.strictSame(grants(2, round({}), round({ round_id: 'rnd_2' })), [uses])
  const twice = { client_transaction_id: 'one' }
  t.strictSame(grants(1, round(twice), round({ ...twice, round_id: 'rnd_2' })), [
    'rounds: one transaction_id of one game is one round',
  ])
  t.end()
})
