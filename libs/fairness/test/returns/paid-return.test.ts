import { multiplyFloor, type Rational, rational, rationalToText } from '@pitboss/money/rational'
import t from 'tap'
import { games } from '../../src/games/registry.ts'
import { leastPayingStake, leastReturn, paidReturn } from '../../src/returns/paid-return.ts'

const stakes = [1n, 2n, 3n, 7n, 10n, 13n, 50n, 97n, 98n, 99n, 100n, 1_000n, 12_345n, 10n ** 13n]
const payouts = [11n, 100n, 5_000n, 10n ** 7n, 10n ** 20n]

/** Greater, less or equal without the code under test. */
const isLess = (a: Rational, b: Rational): boolean => a.n * b.d < b.n * a.d

for (const game of games) {
  t.test(`the least return of ${game.slug} is that of an enumeration of every win`, (t) => {
    const wins = [...game.shapes()].map((wager) => wager.winMultipliers(game.rtp))
    for (const stake of stakes) {
      for (const maxPayout of payouts) {
        let least: Rational | null = null
        for (const multipliers of wins) {
          const paid = multipliers
            .map((multiplier) => ({ multiplier, payout: (stake * multiplier.n) / multiplier.d }))
            .filter(({ payout }) => payout <= maxPayout)
          if (!paid.some(({ payout }) => payout > stake)) continue
          for (const { multiplier, payout } of paid) {
            const share = rational(game.rtp.n * multiplier.d * payout, game.rtp.d * multiplier.n * stake)
            if (least === null || isLess(share, least)) least = share
          }
        }
        const found = leastReturn(game, game.rtp, { stake, maxPayout })
        t.equal(
          found === null ? 'none' : rationalToText(found),
          least === null ? 'none' : rationalToText(least),
          `${stake} of at most ${maxPayout}`,
        )
      }
    }
    t.end()
  })

  t.test(`a bet of ${game.slug} pays from the least stake that is named, and at none below`, (t) => {
    const maxPayout = 10n ** 20n
    for (const wager of game.shapes()) {
      const multipliers = wager.winMultipliers(game.rtp)
      const least = leastPayingStake(multipliers)
      if (least === null) throw new Error('each bet of the product pays at some stake')
      const wins = (stake: bigint) => multipliers.some((one) => multiplyFloor(stake, one) > stake)
      if (!wins(least) || (least > 1n && wins(least - 1n))) t.fail(JSON.stringify(wager.bet))
      if (paidReturn(multipliers, game.rtp, { stake: least, maxPayout }) === null) t.fail(`${least}`)
    }
    t.end()
  })
}

t.test('no stake pays at a multiplier of one or less', (t) => {
  t.equal(leastPayingStake([rational(1n)]), null)
  t.equal(leastPayingStake([]), null)
  t.equal(paidReturn([rational(1n)], rational(1n), { stake: 100n, maxPayout: 1000n }), null)
  t.end()
})
