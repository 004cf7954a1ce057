import type { auditRecordSchema } from '@pitboss/contracts/audit'
import type { z } from 'zod'
import type { AuditDocument, EarlierAuditDocument } from '../storage/audits-store.ts'

/** The public record of a change. Source: docs/contract.md, section 12. */
export function toPublicAudit({ entry }: AuditDocument): z.infer<typeof auditRecordSchema> {
  const { operator_id: _, reason: _why, ...record } = entry
  return record
}

/** A line of the audit log as operations people see it. Source: docs/contract.md, section 10. */
export function toAuditLine(record: AuditDocument | EarlierAuditDocument) {
  const { _id: audit_id, at } = record
  if (record.kind === undefined) {
    const { by, what, target, reason, details } = record
    return { audit_id, at: at.toISOString(), by, what, target, reason, details }
  }
  const { actor, act, object, reason, after } = record.entry
  return {
    ...{ audit_id, at: at.toISOString(), by: actor.name, what: act, target: object.id, reason },
    details: after ?? {},
  }
}
