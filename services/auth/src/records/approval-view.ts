import type { Approval } from '@pitboss/contracts/objects/approval'
import type { ApprovalDocument } from '../storage/approvals-store.ts'

/** The public record of a grave act that waits, or has waited. Source: docs/contract.md, section 3. */
export function toPublicApproval(approval: ApprovalDocument): Approval {
  const { decidedBy } = approval
  return {
    approval_id: approval._id,
    act: approval.order.act,
    object: approval.object,
    before: approval.before,
    after: approval.after,
    status: approval.status,
    asked_by: approval.by.actor,
    asked_at: approval.askedAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
    decided_by: decidedBy === null ? null : { user_id: decidedBy.userId, email: decidedBy.email },
    decided_at: approval.decidedAt?.toISOString() ?? null,
    ended_at: approval.endedAt?.toISOString() ?? null,
    outcome: approval.outcome,
  }
}
