import type { Account } from '@pitboss/contracts/caller'
import type { BrandDocument, OperatorDocument } from '../storage/documents.ts'

/** `NONE` until the account is approved, then what its live-play switch says. Source: contract section 11. */
export function liveStatusOf({
  approved,
  livePlay,
}: Pick<OperatorDocument, 'approved' | 'livePlay'>): Account['live_status'] {
  if (!approved) return 'NONE'
  if (livePlay === 'suspended') return 'SUSPENDED'
  return livePlay === 'off' ? 'OFF' : 'APPROVED'
}

/** The account's switches as they travel with every call. */
export function toAccount(
  operator: OperatorDocument,
  brands: readonly BrandDocument[],
  realMoney: boolean,
): Account {
  return {
    operator_id: operator._id,
    name: operator.name,
    plan: operator.plan,
    approved: operator.approved,
    suspended: operator.suspended,
    live_play: operator.livePlay,
    live_status: liveStatusOf(operator),
    platform_real_money: realMoney,
    currencies: operator.currencies,
    timezone: operator.timezone,
    brands: brands.map((brand) => ({ brand_id: brand._id, name: brand.name })),
  }
}
