import { rational } from '@pitboss/money/rational'
import t from 'tap'
import { checkStake, percentText, returnText } from '../src/play/stake.ts'

const rtp = rational(99n, 100n)
const [even, nearly] = [[rational(198n, 100n)], [rational(99n, 98n)]]
const steps = [rational(33n, 32n), rational(99n, 92n)]
const range = { min: 10n, max: 100_000n, maxPayout: 10_000_000n }
const { maxPayout } = range

t.test('the return that is shown is that of the stake', async (t) => {
  t.equal(returnText(even, rtp, { stake: 10n, maxPayout }), '95.00 %', '0.10 wins 0.19')
  t.equal(returnText(even, rtp, { stake: 100n, maxPayout }), '99.00 %')
  t.equal(returnText(steps, rtp, { stake: 100n, maxPayout }), 'at least 98.44 %', '1.00 wins 1.03 or 1.07')
  t.equal(returnText(nearly, rtp, { stake: 97n, maxPayout }), '', 'a bet that is not taken')
  t.same(['0.9900', '1.0000', '0.0501'].map(percentText), ['99.00 %', '100.00 %', '5.01 %'])
})

t.test('a stake at which the bet cannot win is named before it is sent', async (t) => {
  const problemOf = (stake: string, multipliers = nearly, limits = range) =>
    checkStake(stake, 'USD', limits, multipliers).problem
  t.match(problemOf('0.97'), /no more than the stake\. This bet pays from 0\.98 USD on\./)
  t.equal(problemOf('0.98'), null)
  t.match(problemOf('9.00', even, { ...range, maxPayout: 1000n }), /above the greatest payout of 10\.00 USD/)
})
