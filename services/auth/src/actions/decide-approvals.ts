import type { ActedBy, AuditEntry } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import { isPermitted } from '@pitboss/contracts/objects/approval'
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { approvedBy, toPublicApproval } from '../records/approval-view.ts'
import { roleOf } from '../records/user-view.ts'
import {
  alreadyEnded,
  approvalMs,
  mayApprove,
  mayAskFor,
  requireAge,
  requireSecondPerson,
} from '../rules/approvals.ts'
import type { ApprovalDocument } from '../storage/approvals-store.ts'
import type { AccountScope } from '../storage/page.ts'
import { createCarryOut } from './carry-out.ts'
import type { AuthDeps } from './deps.ts'
import { createEndUndone } from './end-undone.ts'

type Decision = 'approve' | 'reject'

/** Approves and rejects grave acts of others. Source: docs/contract.md, section 3, "Approval". */
export function createDecideApprovals(deps: AuthDeps) {
  const { stores, audit, clock, approverAgeMs } = deps
  const { approvals, operators, people } = stores
  const { carryOut, firstSweepAt } = createCarryOut(deps)
  const endUndone = createEndUndone(deps)

  /** @throws ServiceError NOT_FOUND */
  async function find({ scope }: { readonly scope: AccountScope }, id: string): Promise<ApprovalDocument> {
    const found = await approvals.find(scope, id)
    if (found === null) throw new ServiceError('NOT_FOUND')
    return found
  }

  const entryOf = (by: ActedBy, decision: Decision, found: ApprovalDocument) => {
    const before = toPublicApproval(found)
    const isFirst = by.actor.kind === 'operations' && found.operations === undefined
    const status = isFirst ? found.status : decision === 'approve' ? 'APPROVED' : 'REJECTED'
    const after = { ...before, status, decided_by: { user_id: by.actor.id, email: by.actor.name } }
    const object = { type: 'approval', id: found._id }
    return audit.entry(by, { act: `approval.${decision}`, object, before, after })
  }

  /** @throws ServiceError CONFLICT, and ends it, when who asked may not do it himself any more */
  async function requireAsker(found: ApprovalDocument): Promise<void> {
    const asker = await people.active(found, found.by.actor.id)
    const owners = await operators.owners(found)
    if (asker !== null && mayAskFor(found.order, roleOf(asker, owners))) return
    const outcome = 'Who asked for it may not do it any more.'
    await endUndone(found, { status: 'STALE', outcome })
    throw conflict(outcome)
  }

  /** @returns null when another process has decided */
  async function carryOutOnce(
    found: ApprovalDocument,
    decidedBy: { userId: string; email: string },
    entry: AuditEntry,
  ): Promise<ApprovalDocument | null> {
    const now = clock.now()
    if (found.expiresAt <= now) throw alreadyEnded('EXPIRED')
    await requireAsker(found)
    const isLater = isPermitted(found.order)
    const expiresAt = isLater ? new Date(now.getTime() + approvalMs) : found.expiresAt
    const decided = { decidedBy, now, expiresAt, dueAt: isLater ? expiresAt : firstSweepAt(now) }
    const approved = await approvals.approve(found, found._id, decided, entry)
    if (approved === null) return null
    await failpoint('auth.approved')
    if (!isLater) await carryOut(approved)
    return find({ scope: found }, found._id)
  }

  /** @throws ServiceError CONFLICT while somebody of the account may approve */
  async function requireMissing(found: ApprovalDocument): Promise<void> {
    const madeBefore = new Date(clock.now().getTime() - approverAgeMs)
    if ((await people.countApprovers(found, found.by.actor.id, 1, madeBefore)) === 0) return
    const message = 'Somebody of the account can approve it; operations do so for a missing person alone.'
    throw conflict(message)
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
      const approver = await people.active(caller.scope, by.actor.id)
      if (approver === null) throw new ServiceError('FORBIDDEN')
      requireAge(approver, clock.now(), approverAgeMs)
      const decidedBy = { userId: by.actor.id, email: by.actor.name }
      const approved = await carryOutOnce(found, decidedBy, entryOf(by, 'approve', found))
      return approved ?? repeatOf(await find(caller, id), by)
    },

    /**
     * Approves an act in place of a second person whom the account has not: the first of two people of
     * operations is noted, the second one approves. Source: docs/contract.md, section 3, "Approval".
     * @throws ServiceError NOT_FOUND; CONFLICT while somebody of the account can approve, for one that is
     * decided or whose time is over, and for the same person again
     */
    async approveByOperations(account: AccountScope, id: string, by: ActedBy): Promise<ApprovalDocument> {
      const found = await find({ scope: account }, id)
      if (found.status !== 'PENDING') throw alreadyEnded(found.status)
      await requireMissing(found)
      const name = by.actor.name
      const first = found.operations
      if (first === undefined) {
        const noted = { by: name, reason: by.reason, at: clock.now() }
        if (await approvals.noteOperations(account, id, noted, entryOf(by, 'approve', found)))
          return find({ scope: account }, id)
        throw conflict('Somebody else has approved it; look at it again.')
      }
      if (sameName(first.by, name)) throw conflict(`${first.by} has approved it; another person has to.`)
      const decidedBy = { userId: 'operations', email: `${first.by}, ${name}` }
      const entry = entryOf(by, 'approve', found)
      const approved = await carryOutOnce(found, decidedBy, entry)
      if (approved !== null) return approved
      throw alreadyEnded((await find({ scope: account }, id)).status)
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

const sameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase()

/** @throws ServiceError CONFLICT unless the same person has approved it */
function repeatOf(found: ApprovalDocument, { actor }: ActedBy): ApprovalDocument {
  const isOwn = found.decidedBy?.userId === actor.id && found.status !== 'REJECTED'
  if (isOwn) return found
  throw alreadyEnded(found.status)
}
