import fc from 'fast-check'
import t from 'tap'
import {
  compareRational,
  formatDecimal,
  formatMultiplier,
  multiplyFloor,
  multiplyRational,
  rational,
  rationalToText,
} from '../src/rational.ts'

await t.test('fractions are kept in lowest terms with a positive denominator', async (t) => {
  t.same(rational(990n, 1000n), { n: 99n, d: 100n })
  t.same(rational(-4n, -8n), { n: 1n, d: 2n })
  t.same(rational(4n, -8n), { n: -1n, d: 2n })
  t.same(rational(0n, 7n), { n: 0n, d: 1n })
  t.same(multiplyRational(rational(99n, 100n), rational(25n, 24n)), { n: 33n, d: 32n })
  t.equal(rationalToText(rational(33n, 32n)), '33/32')
  t.equal(rationalToText(rational(9900n, 1n)), '9900')
  t.throws(() => rational(1n, 0n), RangeError)
})

await t.test('multipliers are cut to four decimals, never rounded up', async (t) => {
  t.equal(formatMultiplier(rational(99n, 50n)), '1.9800')
  t.equal(formatMultiplier(rational(9900n, 4949n)), '2.0004')
  t.equal(formatMultiplier(rational(199999n, 100000n)), '1.9999')
  t.equal(formatMultiplier(rational(0n)), '0.0000')
  t.equal(formatDecimal(rational(99n, 100n), 4), '0.9900')
})

await t.test(
  'a payout is never more than stake × multiplier and less than one minor unit below it',
  async (t) => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 20n),
        fc.bigInt(1n, 10n ** 9n),
        fc.bigInt(1n, 10n ** 6n),
        (minor, n, d) => {
          const exact = rational(minor * n, d)
          const paid = multiplyFloor(minor, rational(n, d))
          return (
            compareRational(rational(paid), exact) <= 0 && compareRational(rational(paid + 1n), exact) > 0
          )
        },
      ),
    )
    t.equal(multiplyFloor(333n, rational(9900n, 4949n)), 666n)
    t.equal(multiplyFloor(-1n, rational(1n, 2n)), -1n)
  },
)
