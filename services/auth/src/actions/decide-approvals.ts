import type { ActedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { toPublicApproval } from '../records/approval-view.ts'
import { roleOf } from '../records/user-view.ts'
import { alreadyEnded, mayApprove, mayAskFor, requireSecondPerson } from '../rules/approvals.ts'
import type { ApprovalDocument } from '../storage/approvals-store.ts'
import type { AccountScope } from '../storage/page.ts'
import { approvedBy, createCarryOut } from './carry-out.ts'
import type { AuthDeps } from './deps.ts'
import { createEndUndone } from './end-undone.ts'

type Decision = 'approve' | 'reject'

/** Approves and rejects grave acts of others. Source: docs/contract.md, section 3, "Approval". */
export function createDecideApprovals(deps: AuthDeps) {
  const { stores, audit, clock } = deps
  const { approvals, operators, people } = stores
  const { carryOut, firstSweepAt } = createCarryOut(deps)
  const endUndone = createEndUndone(deps)

  /** @throws ServiceError NOT_FOUND */
  async function find({ scope }: Pick<Caller, 'scope'>, id: string): Promise<ApprovalDocument> {
    const found = await approvals.find(scope, id)
    if (found === null) throw new ServiceError('NOT_FOUND')
    return found
  }

  const entryOf = (by: ActedBy, decision: Decision, found: ApprovalDocument) => {
    const before = toPublicApproval(found)
    const after = {
      ...before,
      status: decision === 'approve' ? 'APPROVED' : 'REJECTED',
      decided_by: { user_id: by.actor.id, email: by.actor.name },
    }
    const object = { type: 'approval', id: found._id }
    return audit.entry(by, { act: `approval.${decision}`, object, before, after })
  }

  /** @throws ServiceError CONFLICT, and ends it, when who asked may not do it himself any more */
  async function requireAsker(found: ApprovalDocument): Promise<void> {
    const asker = await people.active(found, found.by.actor.id)
    const owners = await operators.owners(found)
    if (asker !== null && mayAskFor(found.order.act, roleOf(asker, owners))) return
    const outcome = 'Who asked for it may not do it any more.'
    await endUndone(found, { status: 'STALE', outcome })
    throw new ServiceError('CONFLICT', { message: outcome })
  }

  return {
    find,

    /** What an approved act that is not done yet permits. @throws ServiceError NOT_FOUND for any other */
    async showApproved(account: AccountScope, id: string) {
      const found = await approvals.find(account, id)
      if (found?.status !== 'APPROVED') throw new ServiceError('NOT_FOUND')
      return { order: found.order, seen: found.seen, by: approvedBy(found) }
    },

    /**
     * Approves an act and does it. A repeat by the same person tells how it stands.
     * @throws ServiceError NOT_FOUND; FORBIDDEN for who asked; CONFLICT for one that is decided or whose time
     * is over
     */
    async approve(caller: Caller, id: string, by: ActedBy): Promise<ApprovalDocument> {
      const found = await find(caller, id)
      if (found.status !== 'PENDING') return repeatOf(found, by)
      requireSecondPerson(found.by.actor, by.actor.id)
      const now = clock.now()
      if (found.expiresAt <= now) throw alreadyEnded('EXPIRED')
      await requireAsker(found)
      const decidedBy = { userId: by.actor.id, email: by.actor.name }
      const decided = { decidedBy, now, dueAt: firstSweepAt(now) }
      const approved = await approvals.approve(caller.scope, id, decided, entryOf(by, 'approve', found))
      if (approved === null) return repeatOf(await find(caller, id), by)
      await failpoint('auth.approved')
      await carryOut(approved)
      return find(caller, id)
    },

    /**
     * Rejects an act of another person, or takes one's own back.
     * @throws ServiceError NOT_FOUND; FORBIDDEN for a DEVELOPER about an act of another person; CONFLICT for
     * one that is decided
     */
    async reject(caller: Caller, id: string, by: ActedBy): Promise<ApprovalDocument> {
      const found = await find(caller, id)
      const { actor } = caller
      const isOwn = found.by.actor.id === by.actor.id
      if (!isOwn && !(actor.kind === 'user' && mayApprove(actor.role))) {
        const message = `${found.by.actor.name} has asked for this; an OWNER or ADMIN can reject it, too.`
        throw new ServiceError('FORBIDDEN', { message })
      }
      const decided = { decidedBy: { userId: by.actor.id, email: by.actor.name }, now: clock.now() }
      const rejected = await approvals.reject(caller.scope, id, decided, entryOf(by, 'reject', found))
      if (rejected !== null) return rejected
      const present = await find(caller, id)
      if (present.status === 'REJECTED' && present.decidedBy?.userId === by.actor.id) return present
      throw alreadyEnded(present.status)
    },
  }
}

/** @throws ServiceError CONFLICT unless the same person has approved it */
function repeatOf(found: ApprovalDocument, { actor }: ActedBy): ApprovalDocument {
  const isOwn = found.decidedBy?.userId === actor.id && found.status !== 'REJECTED'
  if (isOwn) return found
  throw alreadyEnded(found.status)
}
