import type { Account } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'

type Standing = Pick<Account, 'plan' | 'approved'>

/**
 * Live keys need a paid plan and an approved account.
 * Source: docs/contract.md, section 3.
 * @throws ServiceError FORBIDDEN naming the plan
 */
export function requireLivePlan(operator: Standing): void {
  requirePaidAndApproved(operator, 'Live keys need')
}

/** As `requireLivePlan`, for allowlists of either environment. Source: docs/contract.md, section 11. */
export function requireAllowlistPlan(operator: Standing): void {
  requirePaidAndApproved(operator, 'An IP allowlist needs')
}

function requirePaidAndApproved({ plan, approved }: Standing, what: string): void {
  if (plan === 'paid' && approved) return
  const lack = plan === 'paid' ? 'the account is not approved yet' : `this account is on the "${plan}" plan`
  throw new ServiceError('FORBIDDEN', {
    message: `${what} the "paid" plan and an approved account; ${lack}.`,
  })
}
