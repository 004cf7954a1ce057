import { currencyCodes, currencyDigits } from '@pitboss/money/currencies'
import t from 'tap'
import { accountLimits, platformLimits } from '../../src/rules/limits.ts'
import { ratesAt, unitsPerDollar } from '../../src/rules/rates.ts'

const minor = (currency: string, units: number) => Math.round(units * 10 ** (currencyDigits(currency) ?? 0))
/** The currencies whose figures are set by hand, and what a unit of them was worth in dollars. */
const byHand = 'USD EUR GBP BTC ETH LTC USDT USDC FUN JPY KRW VND CLP IDR INR'.split(' ')

t.test('figures set by hand stay', async (t) => {
  const usual = { minStake: 10n, maxStake: 100_000n, maxPayout: 10_000_000n }
  for (const currency of ['USD', 'EUR', 'GBP']) t.same(platformLimits(currency), usual, currency)
  t.same(platformLimits('JPY'), { minStake: 10n, maxStake: 100_000n, maxPayout: 10_000_000n })
  t.same(platformLimits('BTC'), { minStake: 100n, maxStake: 10_000_000n, maxPayout: 1_000_000_000n })
  t.same(platformLimits('FUN'), { minStake: 10n, maxStake: 1_000_000n, maxPayout: 100_000_000n })
  t.equal(platformLimits('XXX'), null)
})

t.test('every other currency has round figures of like value', async (t) => {
  t.match(ratesAt, /^20[0-9]{2}-[0-9]{2}-[0-9]{2}$/)
  for (const currency of currencyCodes()) {
    const limits = platformLimits(currency)
    if (limits === null) throw new Error(`${currency} has no limits`)
    const { minStake, maxStake, maxPayout } = limits
    t.ok(minStake >= 10n && minStake < maxStake && maxStake < maxPayout, currency)
    if (byHand.includes(currency)) continue
    const rate = Number(unitsPerDollar[currency])
    for (const [part, dollars] of [
      [minStake, 0.1],
      [maxStake, 1000],
      [maxPayout, 100_000],
    ] as const) {
      t.match(String(part), /^[125]0*$/, `${currency} ${part}`)
      const ratio = Number(part) / minor(currency, dollars * rate)
      const near = ratio > 0.62 && ratio < 1.6
      if (!near && part !== 10n) t.fail(`${currency} ${part} is ${ratio} of its value`)
    }
  }
  t.same(platformLimits('LBP'), {
    minStake: 1_000_000n,
    maxStake: 10_000_000_000n,
    maxPayout: 1_000_000_000_000n,
  })
  t.same(platformLimits('KWD'), { minStake: 20n, maxStake: 200_000n, maxPayout: 20_000_000n })
})

t.test('limits of an account that are no longer allowed are brought to the nearest', async (t) => {
  const allowed = { minStake: 1000n, maxStake: 100_000n, maxPayout: 1_000_000n }
  const own = (minStake: bigint, maxStake: bigint, maxPayout: bigint | null = null) =>
    accountLimits(allowed, { minStake, maxStake, maxPayout })
  t.match(accountLimits(allowed, null), { ...allowed, winsMax: null })
  t.match(own(1n, 100n), { minStake: 1000n, maxStake: 1000n }, 'below')
  t.match(own(200_000n, 900_000n), { minStake: 100_000n, maxStake: 100_000n }, 'above')
  t.match(own(5000n, 500_000n), { minStake: 5000n, maxStake: 100_000n })
  t.match(own(5000n, 6000n, 50_000n), { maxPayout: 50_000n, winsMax: 50_000n })
  t.match(own(5000n, 6000n, 2_000_000n), { maxPayout: 1_000_000n, winsMax: null })
})
