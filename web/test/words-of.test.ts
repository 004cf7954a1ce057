import t from 'tap'
import { wordsOf } from '../dashboard/src/pages/words-of.ts'

t.test('a value of a record is told in words, never as JSON', (t) => {
  const limits = [
    { currency: 'EUR', min_stake: '0.10', max_stake: '100.00', max_payout: '10000.00' },
    { currency: 'USD', min_stake: '0.20', max_stake: null },
  ]
  t.strictSame(wordsOf(limits), [
    'EUR: min stake 0.10, max stake 100.00, max payout 10000.00',
    'USD: min stake 0.20, max stake none',
  ])
  t.strictSame(wordsOf([]), ['none'])
  t.strictSame(wordsOf(['games:read', 'reports:read']), ['games:read', 'reports:read'])
  t.strictSame(wordsOf(true), ['yes'])
  t.strictSame(wordsOf(null), ['none'])
  t.strictSame(wordsOf(undefined), ['–'])
  t.strictSame(wordsOf('<b>x</b>'), ['<b>x</b>'])
  t.strictSame(wordsOf({ timeout_ms: 5000, scopes: ['a', 'b'] }), ['timeout ms 5000, scopes a, b'])
  t.end()
})
