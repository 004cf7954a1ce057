import { formatAmount } from '@pitboss/money/amount'
import { leastPayingStake, paidReturn } from '@pitboss/fairness/returns/paid-return'
import { formatDecimal, type Rational, rational } from '@pitboss/money/rational'
import type { Sitting } from '../api/records.ts'
import { minorText, readMinor } from './money-text.ts'

const one = rational(1n)
const shareDecimals = 4

export type StakeRange = { readonly min: bigint; readonly max: bigint; readonly maxPayout: bigint }

/**
 * The stakes that this session takes: the game's limits, narrowed by the session's own. Null when the
 * currency has none.
 */
export function stakeRange({ session, game }: Sitting): StakeRange | null {
  const { currency, limits: own } = session
  const limits = game.limits.find((each) => each.currency === currency)
  if (limits === undefined) return null
  const read = (text: string | null | undefined) =>
    text === null || text === undefined ? null : readMinor(text, currency)
  const [min, max, maxPayout] = [read(limits.min_stake), read(limits.max_stake), read(limits.max_payout)]
  if (min === null || max === null || maxPayout === null) return null
  return { min: greater(min, read(own?.min_stake)), max: less(max, read(own?.max_stake)), maxPayout }
}

/** The stake that is offered first: one whole unit, or the nearest that the range takes. */
export function firstStake({ min, max }: StakeRange, currency: string): string {
  const unit = readMinor('1', currency) ?? min
  return formatAmount(clamp(unit, { min, max }), currency)
}

/** Checks a typed stake; `multipliers` are those of the bet's wins, the smallest first. */
export function checkStake(
  text: string,
  currency: string,
  range: StakeRange | null,
  multipliers: readonly Rational[],
): { minor: bigint; problem: null } | { minor: bigint | null; problem: string } {
  const minor = readMinor(text, currency)
  if (range === null) return { minor, problem: `This game takes no stakes in ${currency}.` }
  if (minor === null)
    return { minor, problem: 'Enter an amount such as ' + formatAmount(range.min, currency) + '.' }
  if (minor < range.min) return { minor, problem: `The least stake is ${minorText(range.min, currency)}.` }
  if (minor > range.max) return { minor, problem: `The greatest stake is ${minorText(range.max, currency)}.` }
  if (paidReturn(multipliers, one, { stake: minor, maxPayout: range.maxPayout }) !== null) {
    return { minor, problem: null }
  }
  const paysFrom = leastPayingStake(multipliers)
  const problem =
    paysFrom !== null && paysFrom > minor
      ? `A win would be no more than the stake. This bet pays from ${minorText(paysFrom, currency)} on.`
      : `A win would be above the greatest payout of ${minorText(range.maxPayout, currency)}.`
  return { minor, problem }
}

/** The share of this stake that the bet returns, in a few words: "95.00 %"; of games in steps the least. */
export function returnText(
  multipliers: readonly Rational[],
  rtp: Rational,
  at: { readonly stake: bigint; readonly maxPayout: bigint },
): string {
  const share = paidReturn(multipliers, rtp, at)
  if (share === null) return ''
  const text = percentText(formatDecimal(share, shareDecimals))
  return multipliers.length === 1 ? text : `at least ${text}`
}

/** "0.9900" as "99.00 %". */
export function percentText(share: string): string {
  const [whole = '', decimals = ''] = share.split('.')
  const percent = `${whole}${decimals.slice(0, 2).padEnd(2, '0')}`.replace(/^0+(?=[0-9])/, '')
  return `${percent}.${decimals.slice(2).padEnd(2, '0')} %`
}

export function clamp(minor: bigint, { min, max }: { min: bigint; max: bigint }): bigint {
  return minor < min ? min : minor > max ? max : minor
}

function greater(a: bigint, b: bigint | null): bigint {
  return b !== null && b > a ? b : a
}

function less(a: bigint, b: bigint | null): bigint {
  return b !== null && b < a ? b : a
}
