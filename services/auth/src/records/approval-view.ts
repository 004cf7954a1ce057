import type { ApprovedBy } from '@pitboss/contracts/calls/approvals'
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

/** The author of an approved act: who asked, with who approved. @throws Error for one that nobody approved */
export function approvedBy({ _id, by, decidedBy }: ApprovalDocument): ApprovedBy {
  if (decidedBy === null) throw new Error(`${_id} was approved by nobody`)
  return { ...by, approval: { approval_id: _id, user_id: decidedBy.userId, email: decidedBy.email } }
}
