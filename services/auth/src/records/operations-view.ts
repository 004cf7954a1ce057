import { operatorHandleOf } from '@pitboss/contracts/primitives'
import type { AuditDocument } from '../storage/logs-store.ts'
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

/** A line of the audit log. Source: docs/contract.md, section 10. */
export function toAuditRecord(record: AuditDocument) {
  return {
    audit_id: record._id,
    at: record.at.toISOString(),
    by: record.by,
    what: record.what,
    target: record.target,
    reason: record.reason,
    details: record.details,
  }
}
