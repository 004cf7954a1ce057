import type { Account } from '@pitboss/contracts/caller'
import { invalidField, readAll, ServiceError } from '@pitboss/errors/service-error'
import { currencyDigits } from '@pitboss/money/currencies'

/** The most brands that an account has. Source: ours. */
export const brandsMax = 1000
/** The most saved views that an account has. Source: docs/contract.md, section 3. */
export const viewsMax = 200

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

/** @throws ServiceError VALIDATION_ERROR at `currencies.<index>` for an unknown currency */
export function requireKnownCurrency(code: string, index: number): void {
  if (currencyDigits(code) === null) throw invalidField(`currencies.${index}`, 'is not a currency we know')
}

/** @throws ServiceError VALIDATION_ERROR at each `currencies.<index>` that is unknown or repeated */
export function requireCurrencies(codes: readonly string[]): void {
  readAll(
    ...codes.map((code, index) => () => {
      requireKnownCurrency(code, index)
      if (codes.indexOf(code) !== index) throw invalidField(`currencies.${index}`, 'is there twice')
    }),
  )
}

/** @throws ServiceError VALIDATION_ERROR at `timezone` */
export function requireTimezone(text: string): void {
  if (!isTimezone(text)) throw invalidField('timezone', 'must be an IANA time zone such as "Europe/Malta"')
}

function isTimezone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone.length > 0
  } catch {
    return false
  }
}
