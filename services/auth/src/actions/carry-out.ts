import { type ApprovedBy, doApproved } from '@pitboss/contracts/calls/approvals'
import { isPermitted } from '@pitboss/contracts/objects/approval'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { approvedBy } from '../records/approval-view.ts'
import { toAccount } from '../records/account-view.ts'
import { brandsMax } from '../rules/account-rules.ts'
import type { ApprovalDocument } from '../storage/approvals-store.ts'
import { createChangeBusiness, guardOf } from './change-business.ts'
import { createChangeCredentials } from './change-credentials.ts'
import { createChangePeople } from './change-people.ts'
import type { AuthDeps } from './deps.ts'
import { createEndUndone } from './end-undone.ts'

/** Time from one try to the next, while a service does not answer. */
const retryMs = 5000
const perSweepMax = 50

/**
 * Does what was approved. Each service does it once under the id of its approval, to the state that was seen
 * and to no other, so that a try may be repeated by whichever process, after whichever crash.
 * Source: docs/contract.md, section 3, "Approval".
 */
export function createCarryOut(deps: AuthDeps) {
  const { stores, bus, clock, logger } = deps
  const { approvals, brands, operators, platform } = stores
  const credentials = createChangeCredentials(deps)
  const business = createChangeBusiness(deps)
  const people = createChangePeople(deps)
  const endUndone = createEndUndone(deps)

  async function act(
    { operatorId, order, seen }: ApprovalDocument,
    by: ApprovedBy,
  ): Promise<'done' | 'stale'> {
    switch (order.act) {
      case 'credential.delete':
      case 'credential.change':
        return credentials.changeApproved(order, seen, by)
      case 'user.change':
        return people.changeRoleApproved(order, seen, by)
      case 'business.change':
        return business.endGuard({ operatorId }, guardOf(order), by)
      case 'wallet.put':
        return (await bus.call(doApproved.wallet, { order, seen, by })).result
      case 'game.change': {
        const account = await accountOf(operatorId)
        return (await bus.call(doApproved.game, { order, seen, by, account })).result
      }
      case 'credential.create':
      case 'endpoint.create':
      case 'endpoint.change':
      case 'user.create':
      case 'wallet.rotate-secret':
        throw new Error(`${order.act} is done by who asked for it`)
    }
  }

  async function accountOf(operatorId: string) {
    const operator = await operators.find({ operatorId })
    if (operator === null) throw new ServiceError('NOT_FOUND')
    const ofAccount = await brands.first({ operatorId }, brandsMax)
    return toAccount(operator, ofAccount, await platform.isRealMoneyOn())
  }

  /** Tries once. Never rejects: what could not be tried is tried again by the sweep. */
  async function carryOut(approval: ApprovalDocument): Promise<void> {
    const { _id } = approval
    const by = approvedBy(approval)
    try {
      const result = await act(approval, by)
      await failpoint('auth.approved-done')
      if (result !== 'done') return await endUndone(approval, { status: 'STALE', outcome: null })
      const done = { status: 'DONE', outcome: null, now: clock.now() } as const
      await approvals.end(approval, _id, 'APPROVED', done, null)
    } catch (err) {
      if (err instanceof ServiceError && !err.retryable) {
        return endUndone(approval, { status: 'REFUSED', outcome: err.message })
      }
      logger.warn({ err, approval_id: _id }, 'approval.deferred')
      await approvals.postpone(approval, _id, new Date(clock.now().getTime() + retryMs))
    }
  }

  return {
    carryOut,
    /** When an approved act is tried by the sweep, unless who approved it has done so. */
    firstSweepAt: (now: Date) => new Date(now.getTime() + retryMs),

    /**
     * Ends what nobody approved or used in time, and tries what was approved and is not done.
     * @returns in how many milliseconds to look again; undefined when none waits
     */
    async sweep(): Promise<number | undefined> {
      const now = clock.now()
      const coming = await approvals.due(new Date(now.getTime() + retryMs), perSweepMax)
      const isDue = ({ dueAt }: ApprovalDocument) => dueAt !== null && dueAt <= now
      for (const approval of coming.filter(isDue)) {
        if (approval.status === 'APPROVED' && !isPermitted(approval.order)) await carryOut(approval)
        else await endUndone(approval, { status: 'EXPIRED', outcome: null })
      }
      if (coming.length === 0) return undefined
      const next = coming.find((approval) => !isDue(approval))?.dueAt
      return Math.min(retryMs, (next?.getTime() ?? Infinity) - now.getTime())
    },
  }
}
