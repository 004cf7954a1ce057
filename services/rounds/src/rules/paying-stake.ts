import { ServiceError } from '@pitboss/errors/service-error'
import { leastPayingStake, paidReturn, type StakeAtLimit } from '@pitboss/fairness/returns/paid-return'
import { formatAmount } from '@pitboss/money/amount'
import { multiplyFloor, type Rational } from '@pitboss/money/rational'

/**
 * Refuses a stake at which no win pays. @param multipliers the smallest first. Source: docs/contract.md,
 * section 4, "Games". @throws ServiceError BET_LIMIT_EXCEEDED, naming the least stake that pays
 */
export function assertPays(
  multipliers: readonly Rational[],
  rtp: Rational,
  currency: string,
  { stake, maxPayout }: StakeAtLimit,
): void {
  if (paidReturn(multipliers, rtp, { stake, maxPayout }) !== null) return
  const paysFrom = leastPayingStake(multipliers)
  const pays = (minor: bigint) => multipliers.some((multiplier) => fits(minor, multiplier, maxPayout))
  if (paysFrom === null || paysFrom <= stake || !pays(paysFrom)) {
    throw new ServiceError('BET_LIMIT_EXCEEDED', {
      message: 'A win would pay more than the greatest payout of this game.',
    })
  }
  const least = `${formatAmount(paysFrom, currency)} ${currency}`
  const message = `A win of this bet would pay no more than its stake. The least stake at which it pays is ${least}.`
  throw new ServiceError('BET_LIMIT_EXCEEDED', { message, details: [{ path: 'stake', message }] })
}

function fits(stake: bigint, multiplier: Rational, maxPayout: bigint): boolean {
  const payout = multiplyFloor(stake, multiplier)
  return payout > stake && payout <= maxPayout
}
