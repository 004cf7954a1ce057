import { compareRational, multiplyFloor, type Rational, rational } from '@pitboss/money/rational'
import type { Game } from '../games/game.ts'

/** A stake and the greatest payout of its round, in minor units. */
export type StakeAtLimit = { readonly stake: bigint; readonly maxPayout: bigint }

/**
 * The exact share of the stake that a bet returns, with its payout cut to the minor unit; of several wins the
 * least share, so no way of playing returns less. Null for a bet that is not taken: no win within the
 * greatest payout pays more than the stake. Source: docs/contract.md, section 4, "Games".
 * @param multipliers of the wins of the bet, the smallest first
 */
export function paidReturn(
  multipliers: readonly Rational[],
  rtp: Rational,
  { stake, maxPayout }: StakeAtLimit,
): Rational | null {
  let least: Rational | null = null
  let pays = false
  for (const multiplier of multipliers) {
    const payout = multiplyFloor(stake, multiplier)
    if (payout > maxPayout) break
    pays ||= payout > stake
    // The chance is R divided by the multiplier. Lowest terms are left to the end: they cost most of the
    // time.
    const share = { n: rtp.n * multiplier.d * payout, d: rtp.d * multiplier.n * stake }
    if (least === null || compareRational(share, least) < 0) least = share
  }
  return pays && least !== null ? rational(least.n, least.d) : null
}

/**
 * The least share of a stake that any bet of the game returns that is taken at it; null when none is taken.
 * Source: docs/contract.md, section 4, "Games".
 */
export function leastReturn(game: Game, rtp: Rational, at: StakeAtLimit): Rational | null {
  let least: Rational | null = null
  for (const wager of game.shapes()) {
    // A cut takes less than one minor unit, so wins of x units return more than R · (x − 1) / x, and those
    // that follow pay more.
    const { n, d } = wager.leastWinMultiplier(rtp)
    const [units, parts] = [at.stake * n, d]
    const bound = { n: rtp.n * (units - parts), d: rtp.d * units }
    if (least !== null && compareRational(bound, least) >= 0) break
    const share = paidReturn(wager.winMultipliers(rtp), rtp, at)
    if (share !== null && (least === null || compareRational(share, least) < 0)) least = share
  }
  return least
}

/**
 * The least stake in minor units at which a win pays more than its stake; null when no stake does.
 * @param multipliers of the wins of the bet, the smallest first
 */
export function leastPayingStake(multipliers: readonly Rational[]): bigint | null {
  const greatest = multipliers.at(-1)
  if (greatest === undefined || greatest.n <= greatest.d) return null
  // floor(stake · n / d) > stake from stake · (n − d) >= d on.
  const gain = greatest.n - greatest.d
  return (greatest.d + gain - 1n) / gain
}
