import { ServiceError } from '@pitboss/errors/service-error'
import type { OperatorDocument } from '../storage/documents.ts'

type Standing = Pick<OperatorDocument, 'plan' | 'approved'>

/** Live keys need a paid plan and an approved account. @throws ServiceError FORBIDDEN naming the plan. Source: contract section 3. */
export function requireLivePlan(operator: Standing): void {
  requirePaidAndApproved(operator, 'Live keys need')
}

/** As `requireLivePlan`, for allowlists of either environment. Source: contract section 11. */
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
