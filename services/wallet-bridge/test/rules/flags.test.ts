import { defaultFlagRules } from '@pitboss/contracts/objects/flag'
import t from 'tap'
import { countsOf, isBackAfterWin, isBigWin, isFirstUnknown } from '../../src/rules/flags.ts'

const thresholds = [
  { currency: 'USD', amount: '100.00' },
  { currency: 'BTC', amount: '0.00000100' },
]

t.test('a win is big from the threshold of its currency on, to the last minor unit', async (t) => {
  const isBig = (amount: string, currency = 'USD', type: 'WIN' | 'REFUND' = 'WIN') =>
    isBigWin({ type, amount, currency }, thresholds)
  t.equal(isBig('99.99'), false)
  t.equal(isBig('100.00'), true)
  t.equal(isBig('999999999999999.99'), true)
  t.equal(isBig('0.00000099', 'BTC'), false)
  t.equal(isBig('0.00000100', 'BTC'), true)
  t.equal(isBig('1000000', 'JPY'), false, 'no threshold')
  t.equal(isBig('100.00', 'USD', 'REFUND'), false, 'a refund is no win')
})

t.test('only the first unknown outcome of a movement counts it', async (t) => {
  t.equal(isFirstUnknown({ unknownTries: 0 }, { unknownTries: 0 }), false)
  t.equal(isFirstUnknown({ unknownTries: 0 }, { unknownTries: 1 }), true)
  t.equal(isFirstUnknown({ unknownTries: 1 }, { unknownTries: 2 }), false)
})

t.test('money comes back after a win when the round had won something before', async (t) => {
  const win = { type: 'WIN', status: 'SUCCESS', amount: '2.00', currency: 'USD', reference: 'txn_2' } as const
  const bet = { ...win, type: 'BET', reference: 'txn_1' } as const
  const back = { type: 'ROLLBACK', reference: 'txn_3' } as const
  t.equal(isBackAfterWin(back, [bet, win]), true)
  t.equal(isBackAfterWin({ ...back, type: 'REFUND' }, [bet, win]), true)
  t.equal(isBackAfterWin(back, [bet, { ...win, status: 'ROLLED_BACK' }]), true, 'the win itself')
  t.equal(isBackAfterWin(back, [bet]), false, 'no win')
  t.equal(isBackAfterWin(back, [bet, { ...win, amount: '0.00' }]), false, 'a loss told as a zero win')
  t.equal(isBackAfterWin(back, [bet, { ...win, status: 'FAILED' }]), false, 'a win that paid nothing')
  t.equal(isBackAfterWin(back, [bet, { ...win, reference: 'txn_4' }]), false, 'the win came later')
  t.equal(isBackAfterWin({ ...back, type: 'BET' }, [bet, win]), false, 'a stake takes money')
})

t.test('unknown outcomes are counted by player and by wallet, each within a UTC day', async (t) => {
  const movement = { playerId: 'alice', createdAt: new Date('2026-11-20T23:59:59.999Z') }
  t.strictSame(countsOf(movement, defaultFlagRules), [
    { rule: 'UNKNOWN_OUTCOMES_OF_PLAYER', subject: '2026-11-20/player/alice', limit: 3 },
    { rule: 'UNKNOWN_OUTCOMES_OF_WALLET', subject: '2026-11-20/wallet', limit: 20 },
  ])
  const off = { ...defaultFlagRules, unknown_outcomes: { player: null, wallet: 2 } }
  t.strictSame(
    countsOf({ ...movement, createdAt: new Date('2026-11-21T00:00:00.000Z') }, off),
    [{ rule: 'UNKNOWN_OUTCOMES_OF_WALLET', subject: '2026-11-21/wallet', limit: 2 }],
    'a rule that is off counts nothing',
  )
})
