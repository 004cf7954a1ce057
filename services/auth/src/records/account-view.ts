import type { Account } from '@pitboss/contracts/caller'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import type { BrandDocument } from '../storage/brands-store.ts'
import type { OperatorDocument } from '../storage/operators-store.ts'

/**
 * Gives `NONE` until the account is approved, then the state of its live-play switch.
 * Source: docs/contract.md, section 11.
 */
function liveStatusOf({
  approved,
  livePlay,
}: Pick<OperatorDocument, 'approved' | 'livePlay'>): Account['live_status'] {
  if (!approved) return 'NONE'
  if (livePlay === 'suspended') return 'SUSPENDED'
  return livePlay === 'off' ? 'OFF' : 'APPROVED'
}

/** The switches of an account as they travel with every call. */
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

/** The settings that an account's own people see. Source: docs/contract.md, section 11. */
export function toPublicBusiness(operator: OperatorDocument) {
  return {
    operator_id: operatorHandleOf(operator._id),
    name: operator.name,
    plan: operator.plan,
    live_status: liveStatusOf(operator),
    currencies: operator.currencies,
    timezone: operator.timezone,
  }
}

/** The public record of a brand. Source: docs/contract.md, section 11. */
export function toPublicBrand(brand: BrandDocument) {
  return { brand_id: brand._id, name: brand.name, created_at: brand.createdAt.toISOString() }
}

/** An account as operations people see it. Source: docs/contract.md, section 10. */
export function toOperatorRecord(operator: OperatorDocument) {
  return {
    operator_id: operatorHandleOf(operator._id),
    name: operator.name,
    plan: operator.plan,
    approved: operator.approved,
    suspended: operator.suspended,
    live_play: operator.livePlay,
    live_status: liveStatusOf(operator),
    currencies: operator.currencies,
    created_at: operator.createdAt.toISOString(),
  }
}
