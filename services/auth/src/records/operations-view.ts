import { operatorHandleOf } from '@pitboss/contracts/primitives'
import type { OperatorDocument } from '../storage/operators-store.ts'
import type { SigningKeyDocument } from '../storage/signing-keys-store.ts'
import { liveStatusOf } from './account-view.ts'

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

/** A signing key as operations people see it. Source: docs/contract.md, section 10. */
export function toKeyRecord(key: SigningKeyDocument) {
  return {
    kid: key._id,
    status: key.current ? ('CURRENT' as const) : ('VERIFYING' as const),
    created_at: key.createdAt.toISOString(),
    retires_at: key.retiresAt?.toISOString() ?? null,
  }
}
