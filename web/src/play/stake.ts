import { formatAmount } from '@pitboss/money/amount'
import { multiplyFloor, type Rational } from '@pitboss/money/rational'
import type { Sitting } from '../api/records.ts'
import { minorText, readMinor } from './money-text.ts'

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

/** Checks a typed stake; `winMultiplier` is the least that a win pays, for the greatest payout. */
export function checkStake(
  text: string,
  currency: string,
  range: StakeRange | null,
  winMultiplier: Rational,
): { minor: bigint; problem: null } | { minor: bigint | null; problem: string } {
  const minor = readMinor(text, currency)
  if (range === null) return { minor, problem: `This game takes no stakes in ${currency}.` }
  if (minor === null)
    return { minor, problem: 'Enter an amount such as ' + formatAmount(range.min, currency) + '.' }
  if (minor < range.min) return { minor, problem: `The least stake is ${minorText(range.min, currency)}.` }
  if (minor > range.max) return { minor, problem: `The greatest stake is ${minorText(range.max, currency)}.` }
  if (multiplyFloor(minor, winMultiplier) > range.maxPayout) {
    return {
      minor,
      problem: `A win would be above the greatest payout of ${minorText(range.maxPayout, currency)}.`,
    }
  }
  return { minor, problem: null }
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
