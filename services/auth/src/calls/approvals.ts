import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { needApproval, showApproved } from '@pitboss/contracts/calls/approvals'
import * as endpoints from '@pitboss/contracts/endpoints/approvals'
import { createDecideApprovals } from '../actions/decide-approvals.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { createNeedApproval } from '../actions/need-approval.ts'
import { toPublicPage } from '../records/account-view.ts'
import { toPublicApproval } from '../records/approval-view.ts'

/** Grave acts that wait for a second person. Source: docs/contract.md, section 3, "Approval". */
export function approvalCalls(deps: AuthDeps): CallHandler[] {
  const { approvals } = deps.stores
  const decide = createDecideApprovals(deps)
  const { need } = createNeedApproval(deps)
  return [
    ...Object.values(needApproval).map((call) =>
      handler(call, async (act) => {
        const { waits, given } = await need(act)
        const approval = waits === null ? null : toPublicApproval(waits)
        return given === undefined ? { approval } : { approval, given }
      }),
    ),
    handler(showApproved, ({ operator_id: operatorId, approval_id }) =>
      decide.showApproved({ operatorId }, approval_id),
    ),
    handler(endpoints.listApprovals.call, async ({ caller, query }) => ({
      status: 200,
      body: toPublicPage(await approvals.page(caller.scope, query), toPublicApproval),
    })),
    handler(endpoints.getApproval.call, async ({ caller, params }) => ({
      status: 200,
      body: toPublicApproval(await decide.find(caller, params.approval_id)),
    })),
    handler(endpoints.approveApproval.call, async ({ caller, params }, context) => ({
      status: 200,
      body: toPublicApproval(await decide.approve(caller, params.approval_id, actedBy(caller, context))),
    })),
    handler(endpoints.rejectApproval.call, async ({ caller, params }, context) => ({
      status: 200,
      body: toPublicApproval(await decide.reject(caller, params.approval_id, actedBy(caller, context))),
    })),
  ]
}
