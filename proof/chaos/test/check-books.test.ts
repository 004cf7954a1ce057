import t from 'tap'
import { nothingLost, type RestoredPart, type RestoredService } from '../src/check/restored.ts'
import { checkCalls } from '../src/check/check-calls.ts'
import { checkHappened, longRunS } from '../src/check/check-happened.ts'
import { checkMoney } from '../src/check/check-money.ts'
import { checkRefusals } from '../src/check/check-refusals.ts'
import { checkReport } from '../src/check/check-report.ts'
import type { LedgerEntry, Movement, ReportRow, Round } from '../src/check/rows.ts'
import { parseSources } from '../src/check/sources.ts'
import { createVerdict } from '../src/check/verdict.ts'
import { inCurrency } from '../src/in-currency.ts'
import { brokenBy, noRows, sampledAt, sampleMovement, sampleRound } from './fixtures/sample-rows.ts'

const at = sampledAt

function entry(more: Partial<LedgerEntry>): LedgerEntry {
  return {
    ...{ seq: 1, at, operation: 'debit', transaction_id: 'bet-1', reference: 'txn_1', round_id: 'w' },
    ...{ reference_transaction_id: null, player_id: 'p', currency: 'JPY', amount: '100', effect: '-100' },
    status: 'APPLIED',
    ...more,
  }
}

function sources(given: {
  movements?: Movement[]
  rounds?: Round[]
  ledger?: LedgerEntry[]
  balances?: [string, Record<string, string>][]
}) {
  return parseSources({ ...noRows, ...given })
}

await t.test('a report that differs from the movements of its day is found', (t) => {
  const win = sampleMovement({ transaction_id: 'win-1', type: 'WIN', amount: '150' })
  const reported = (more: Partial<ReportRow>, ...movements: Movement[]) => {
    const row = {
      ...{ day: '2026-01-01', currency: 'JPY', rounds: 1, refunds: '0' },
      ...{ stakes: '100', payouts: '150', ggr: '-50' },
      ...more,
    }
    const given = { report: [row], rounds: [sampleRound({})], movements, restored: null }
    return brokenBy((verdict) => checkReport(given, verdict))
  }
  const stakes = 'reports: stakes less refunds of a day are what its bets took'
  t.strictSame(reported({}, sampleMovement({}), win), [])
  t.strictSame(reported({ stakes: '200', ggr: '50' }, sampleMovement({}), win), [stakes])
  t.strictSame(reported({ stakes: '200', refunds: '100' }, sampleMovement({}), win), [])
  t.strictSame(reported({ payouts: '149', ggr: '-49' }, sampleMovement({}), win), [
    'reports: payouts of a day are what its wins paid',
  ])
  t.strictSame(reported({ ggr: '-49' }, sampleMovement({}), win), [
    'reports: ggr is stakes less refunds and payouts, plus adjustments',
  ])
  t.strictSame(reported({ day: '2026-01-02' }, sampleMovement({}), win), [
    stakes,
    'reports: payouts of a day are what its wins paid',
    'reports: every row has rounds behind it',
  ])
  t.end()
})

await t.test('balances are compared in the decimals of their currency', (t) => {
  const money = (currency: string, amount: string, balance: string) => {
    const given = sources({
      movements: [sampleMovement({ currency, amount })],
      ledger: [entry({ currency, amount, effect: `-${amount}` })],
      balances: [['p', { [currency]: balance }]],
    })
    return brokenBy((verdict) => checkMoney(given, () => '1000.00', verdict))
  }
  const sum = ["money: movements sum to the change of the wallet's balance"]
  t.strictSame(money('JPY', '100', '900'), [])
  t.strictSame(money('JPY', '100', '901'), sum)
  t.strictSame(money('BTC', '0.00010000', '999.99990000'), [])
  t.strictSame(money('BTC', '0.00010000', '999.99990001'), sum)
  t.equal(inCurrency('3.33', 'JPY'), '333')
  t.equal(inCurrency('3.33', 'BTC'), '0.00033300')
  t.equal(inCurrency('3.33', 'USD'), '3.33')
  t.end()
})

await t.test("an entry of another account's movement with the same id is found", (t) => {
  const given = sources({
    movements: [sampleMovement({})],
    ledger: [entry({ reference: 'txn_2' })],
    balances: [['p', { JPY: '900' }]],
  })
  t.strictSame(
    brokenBy((verdict) => checkMoney(given, () => '1000.00', verdict)),
    ['money: a wallet moves for its own account and environment alone'],
  )
  t.end()
})

await t.test('an entry of the ledger whose call nobody saw is found', (t) => {
  const given = { ...sources({ movements: [sampleMovement({})], ledger: [entry({})] }) }
  const call = { seq: 1, at, operation: 'debit', transaction_id: 'bet-1', duration_ms: 5, body: '{}' }
  const calls = (...seen: (typeof call)[]) =>
    brokenBy((verdict) => checkCalls({ ...given, calls: seen }, 1000, verdict))
  const name = ['calls: everything in the ledger came by a call that was seen']
  t.strictSame(calls(call), [])
  t.strictSame(calls(), name)
  t.strictSame(calls({ ...call, operation: 'rollback' }), name)
  t.end()
})

await t.test('a stake after the return that closed its round is found', (t) => {
  const call = (operation: 'debit' | 'credit' | 'rollback', transaction_id: string, more = {}) => {
    const type = { debit: 'BET', credit: 'WIN', rollback: 'ROLLBACK' }[operation]
    const body = JSON.stringify({ roundId: 'round', type, ...more })
    return { at, operation, transaction_id, duration_ms: 5000, body }
  }
  const foundAfter = (restored: RestoredPart | null, ...seen: ReturnType<typeof call>[]) => {
    const calls = seen.map((one, seq) => ({ ...one, seq }))
    return brokenBy((verdict) => checkCalls({ ...sources({}), calls, restored }, 1000, verdict))
  }
  const found = (...seen: ReturnType<typeof call>[]) => foundAfter(null, ...seen)
  const [bet, added] = [call('debit', 'bet-1'), call('debit', 'bet-2')]
  const back = (roundClosed: boolean) => call('rollback', 'rbk-1', { roundClosed })
  t.strictSame(found(bet, back(true), bet, back(true)), [])
  t.strictSame(found(bet, back(false), added), [])
  const name = ['calls: a round that a return has closed gets no other stake or win']
  t.strictSame(found(bet, back(true), added), name)
  t.strictSame(found(bet, back(true), call('credit', 'win-1', { roundClosed: true })), name)
  const lost = (...services: RestoredService[]) => {
    const part = nothingLost(services)
    part.movements.set('rbk-1', 'rnd_1')
    return part
  }
  t.strictSame(foundAfter(lost('rounds', 'wallet-bridge'), bet, back(true), added), [], 'nobody knows of it')
  t.strictSame(foundAfter(lost('wallet-bridge'), bet, back(true), added), name, 'rounds knows of it')
  t.end()
})

await t.test('a stake that stands after its rollback was answered is found', (t) => {
  const told = {
    ...{ at, sentAtMs: 0, answeredAtMs: 1, what: 'movement' as const, id: 'rbk-1', token: '' },
    asked: { type: 'ROLLBACK', reference_transaction_id: 'bet-1' },
    answer: { status: 201, body: { reference: 'txn_2', status: 'SUCCESS' } },
  }
  const stands = (...ledger: LedgerEntry[]) =>
    brokenBy((verdict) => checkRefusals([told], sources({ ledger }), verdict))
  t.strictSame(stands(entry({ status: 'ROLLED_BACK' })), [])
  t.strictSame(stands(), [])
  t.strictSame(stands(entry({})), ['reversals: once a ROLLBACK is answered nothing of its original stands'])
  t.end()
})

await t.test('a long run names what never happened in it, a short one does not', (t) => {
  const happened = {
    ...{ rollback: 4, tombstone: 1, 'lost call': 0, 'lease takeover': 2 },
    ...{ 'reversal before record': 1, election: 0 },
  }
  const verdict = createVerdict()
  checkHappened(happened, longRunS - 1, verdict)
  t.strictSame(verdict.invariants(), [])
  checkHappened(happened, longRunS, verdict)
  t.strictSame(
    verdict.invariants().flatMap(({ violations }) => violations),
    ['there was no lost call', 'there was no election'],
  )
  t.end()
})
