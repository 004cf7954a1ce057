import { isDeepStrictEqual } from 'node:util'
import type { ActedBy } from '@pitboss/contracts/audit'
import type { ApprovedBy, NeedApproval } from '@pitboss/contracts/calls/approvals'
import { isPermitted } from '@pitboss/contracts/objects/approval'
import { approvalNeeded, conflict, ServiceError, tryAgain } from '@pitboss/errors/service-error'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { approvedBy, toPublicApproval } from '../records/approval-view.ts'
import { alreadyEnded, approvalMs, requirePerson } from '../rules/approvals.ts'
import type { ApprovalDocument } from '../storage/approvals-store.ts'
import type { AuthDeps } from './deps.ts'
import { createEndUndone } from './end-undone.ts'

const triesMax = 5

type Needed = { readonly waits: ApprovalDocument | null; readonly given?: ApprovedBy['approval'] }

/**
 * Asks a second person to approve a grave act, where the account wants that. An object has one open approval:
 * one whose time is over, or whose object has changed since, makes place for the next.
 * Source: docs/contract.md, section 3, "Approval".
 */
export function createNeedApproval(deps: Pick<AuthDeps, 'stores' | 'audit' | 'clock' | 'newId'>) {
  const { audit, clock, newId } = deps
  const { approvals, operators } = deps.stores
  const endUndone = createEndUndone(deps)

  /**
   * @returns null where the account wants no second person, or the approval that was given for this act and
   * is used up now; else what waits for one, which a repeat finds
   * @throws ServiceError NOT_FOUND, FORBIDDEN for a key pair, CONFLICT when another act on the object waits
   */
  async function need(act: NeedApproval): Promise<Needed> {
    const account = { operatorId: act.by.operator_id ?? '' }
    const operator = await operators.find(account)
    if (operator === null) throw new ServiceError('NOT_FOUND')
    if (operator.secondPerson !== true) return { waits: null }
    requirePerson(act.by.actor)
    for (let tries = 0; tries < triesMax; tries++) {
      const open = await approvals.openOf(account, act.object)
      if (open !== null && permits(open, act)) {
        const done = { status: 'DONE', outcome: null, now: clock.now() } as const
        if (!(await approvals.end(open, open._id, 'APPROVED', done, null))) continue
        return { waits: null, given: approvedBy(open).approval }
      }
      const isKept = open !== null && !(await makePlace(open, act))
      if (isKept) return { waits: repeatOf(open, act) }
      const made = newApproval(account.operatorId, act)
      const asked = { act: 'approval.ask', object: { type: 'approval', id: made._id }, before: null }
      const entry = audit.entry(act.by, { ...asked, after: toPublicApproval(made) })
      if (await approvals.insert({ ...made, ...auditedInsert(entry) })) return { waits: made }
    }
    throw tryAgain()
  }

  function newApproval(operatorId: string, act: NeedApproval): ApprovalDocument {
    const now = clock.now()
    const expiresAt = new Date(now.getTime() + approvalMs)
    return {
      ...{ _id: newId('apr'), operatorId, ...act, status: 'PENDING', open: true, dueAt: expiresAt },
      ...{ askedAt: now, expiresAt, decidedBy: null, decidedAt: null, endedAt: null, outcome: null },
    }
  }

  /** Ends one that can no longer be done. */
  async function makePlace(open: ApprovalDocument, { seen, by }: NeedApproval): Promise<boolean> {
    const isUnused = open.status === 'APPROVED' && isPermitted(open.order)
    if (isUnused && open.by.actor.id === by.actor.id) {
      await endUndone(open, { status: open.expiresAt <= clock.now() ? 'EXPIRED' : 'STALE', outcome: null })
      return true
    }
    if (open.status !== 'PENDING') return false
    const status = open.expiresAt <= clock.now() ? 'EXPIRED' : open.seen === seen ? null : 'STALE'
    if (status === null) return false
    await endUndone(open, { status, outcome: null })
    return true
  }

  return {
    need,
    /**
     * As `need`. @throws ServiceError APPROVAL_NEEDED when it waits for a second person, too
     * @returns the author of the act, with the approval that permits it
     */
    async ask(act: NeedApproval): Promise<ActedBy> {
      const { waits, given } = await need(act)
      if (waits !== null) throw approvalNeeded(waits._id, waits.expiresAt.toISOString())
      return given === undefined ? act.by : { ...act.by, approval: given }
    },
  }
}

/** Whether an approval was given for this act of this person, and is not used up. */
function permits(open: ApprovalDocument, { by, order, seen }: NeedApproval): boolean {
  return (
    open.status === 'APPROVED' &&
    isPermitted(order) &&
    isDeepStrictEqual(open.order, order) &&
    open.by.actor.id === by.actor.id &&
    open.seen === seen
  )
}

/** @throws ServiceError CONFLICT unless the same person asks for the same */
function repeatOf(open: ApprovalDocument, { by, order }: NeedApproval): ApprovalDocument {
  if (open.status !== 'PENDING') throw alreadyEnded(open.status)
  const isSame = isDeepStrictEqual(open.order, order)
  if (isSame && open.by.actor.id === by.actor.id) return open
  const what = isSame ? 'this' : 'another change of it'
  throw conflict(
    `${open.by.actor.name} has asked for ${what} already, as ${open._id}: approve or reject that.`,
  )
}
