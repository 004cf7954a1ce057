import type { auditRecordSchema } from '@pitboss/contracts/audit'
import type { z } from 'zod'
import type { AuditDocument, AuditHeadDocument, EarlierAuditDocument } from '../storage/audits-store.ts'

/** The public record of a change. Source: docs/contract.md, section 12. */
export function toPublicAudit({ entry, link }: AuditDocument): z.infer<typeof auditRecordSchema> {
  const { operator_id: _, reason: _why, ...record } = entry
  if (link === undefined) return record
  const { seq, hash, taken_at, source, proof } = link
  return { ...record, seq, hash, taken_at, source, proof }
}

/** The signed end of an account's chain. */
export function toPublicHead(signed: AuditHeadDocument['signed'] | null) {
  if (signed === null || signed === undefined) return null
  const { seq, hash, at, jws } = signed
  return { seq, hash, at: at.toISOString(), signature: jws }
}

/** A line of the audit log as operations people see it. Source: docs/contract.md, section 10. */
export function toAuditLine(record: AuditDocument | EarlierAuditDocument) {
  const { at } = record
  if (record.kind === undefined) {
    const { by, what, target, reason, details } = record
    return { audit_id: record._id, at: at.toISOString(), by, what, target, reason, details }
  }
  const { audit_id, actor, act, object, reason, after } = record.entry
  return {
    ...{ audit_id, at: at.toISOString(), by: actor.name, what: act, target: object.id, reason },
    details: after ?? {},
  }
}
