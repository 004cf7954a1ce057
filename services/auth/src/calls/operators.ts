import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/auth-ops'
import { orderedBy } from '@pitboss/contracts/audit'
import { createDecideApprovals } from '../actions/decide-approvals.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { createReadAuditChain } from '../actions/read-audit.ts'
import { createRunOrders } from '../actions/run-orders.ts'
import { toPublicApproval } from '../records/approval-view.ts'
import { toPublicPage } from '../records/account-view.ts'
import { toAuditLine } from '../records/audit-view.ts'
import { toKeyRecord, toOperatorRecord } from '../records/operations-view.ts'

/**
 * Orders of operations people: accounts, switches, keys, the audit log.
 * Source: docs/contract.md, section 10.
 */
export function operatorCalls(deps: AuthDeps): CallHandler[] {
  const { signer } = deps
  const { audits, operators, platform } = deps.stores
  const orders = createRunOrders(deps)
  const decide = createDecideApprovals(deps)
  const readAuditChain = createReadAuditChain(deps)
  return [
    handler(calls.opsCreateOperator, (request, { requestId }) => orders.createOperator(request, requestId)),
    handler(calls.opsListOperators, async (query) =>
      toPublicPage(await operators.page(query), toOperatorRecord),
    ),
    handler(calls.opsShowOperator, async ({ operator }) =>
      toOperatorRecord(await orders.findOperator(operator)),
    ),
    handler(calls.opsSetOperator, async (request, { requestId }) =>
      toOperatorRecord(await orders.setOperator(request, requestId)),
    ),

    handler(calls.opsResetFactor, (request, { requestId }) => orders.resetFactor(request, requestId)),

    handler(calls.opsApprove, async ({ order, operator, approval_id }, { requestId }) => {
      const account = { operatorId: (await orders.findOperator(operator))._id }
      const by = orderedBy(order, account.operatorId, requestId)
      const { find, approveByOperations } = decide
      const decided = order.dryRun
        ? await find({ scope: account }, approval_id)
        : await approveByOperations(account, approval_id, by)
      return toPublicApproval(decided)
    }),

    handler(calls.opsShowPlatform, async () => ({ real_money: await platform.isRealMoneyOn() })),
    handler(calls.opsSetPlatform, async (request, { requestId }) => {
      await orders.setRealMoney(request, requestId)
      return { real_money: request.real_money }
    }),

    handler(calls.opsListKeys, async () => ({ data: (await signer.keys()).map(toKeyRecord) })),
    handler(calls.opsRotateKeys, async (request, { requestId }) => ({
      data: (await orders.rotateKeys(request, requestId)).map(toKeyRecord),
    })),
    handler(calls.opsRetireKey, async (request, { requestId }) => ({
      data: (await orders.retireKey(request, requestId)).map(toKeyRecord),
    })),

    handler(calls.opsAppendAudit, async (request, { requestId }) => ({
      audit_id: await orders.recordOwnAct(request, requestId),
    })),
    handler(calls.opsListAudit, async (query) =>
      toPublicPage(await audits.pageOfOperations(query), toAuditLine),
    ),
    handler(calls.opsReadAuditChain, async ({ operator, ...page }) =>
      readAuditChain(operator === null ? null : (await orders.findOperator(operator))._id, page),
    ),
    handler(calls.opsAuthStatus, async () => ({ mongodb: await orders.databaseStatus() })),
  ]
}
