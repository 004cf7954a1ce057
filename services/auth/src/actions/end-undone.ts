import type { ActedBy } from '@pitboss/contracts/audit'
import { toPublicApproval } from '../records/approval-view.ts'
import type { ApprovalDocument } from '../storage/approvals-store.ts'
import type { AuthDeps } from './deps.ts'

type UndoneEnd = {
  readonly status: 'EXPIRED' | 'STALE' | 'REFUSED'
  /** Why, in words; null where the status says it. */
  readonly outcome: string | null
}

/** The author of an end that nobody decided. */
const keeper = 'approvals'

/**
 * Ends approvals of which nothing was done and nobody has decided that, and says so in the audit log, once.
 * Source: docs/contract.md, section 3, "Approval".
 */
export function createEndUndone({
  stores: { approvals },
  audit,
  clock,
}: Pick<AuthDeps, 'stores' | 'audit' | 'clock'>) {
  /** @param found as it was read; nothing happens when another process has ended it since */
  return async function endUndone(found: ApprovalDocument, { status, outcome }: UndoneEnd): Promise<void> {
    const by: ActedBy = {
      ...{ operator_id: found.operatorId, actor: { kind: 'service', id: keeper, name: keeper } },
      ...{ client_address: null, request_id: null, reason: null },
    }
    const before = toPublicApproval(found)
    const after = { ...before, status, outcome }
    const object = { type: 'approval', id: found._id }
    const entry = audit.entry(by, { act: 'approval.end', object, before, after })
    const from = found.status === 'APPROVED' ? 'APPROVED' : 'PENDING'
    await approvals.end(found, found._id, from, { status, outcome, now: clock.now() }, entry)
  }
}
