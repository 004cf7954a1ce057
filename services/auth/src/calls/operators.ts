import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/auth-ops'
import type { AuthDeps } from '../actions/deps.ts'
import { createRunOrders } from '../actions/run-orders.ts'
import { toPublicPage } from '../records/account-view.ts'
import { toAuditRecord, toKeyRecord, toOperatorRecord } from '../records/operations-view.ts'

/**
 * Orders of operations people: accounts, switches, keys, the audit log.
 * Source: docs/contract.md, section 10.
 */
export function operatorCalls(deps: AuthDeps): CallHandler[] {
  const { signer } = deps
  const { audits, operators, platform } = deps.stores
  const orders = createRunOrders(deps)
  return [
    handler(calls.opsCreateOperator, (request) => orders.createOperator(request)),
    handler(calls.opsListOperators, async (query) =>
      toPublicPage(await operators.page(query), toOperatorRecord),
    ),
    handler(calls.opsShowOperator, async ({ operator }) =>
      toOperatorRecord(await orders.findOperator(operator)),
    ),
    handler(calls.opsSetOperator, async (request) => toOperatorRecord(await orders.setOperator(request))),

    handler(calls.opsResetFactor, (request) => orders.resetFactor(request)),

    handler(calls.opsShowPlatform, async () => ({ real_money: await platform.isRealMoneyOn() })),
    handler(calls.opsSetPlatform, async (request) => {
      await orders.setRealMoney(request)
      return { real_money: request.real_money }
    }),

    handler(calls.opsListKeys, async () => ({ data: (await signer.keys()).map(toKeyRecord) })),
    handler(calls.opsRotateKeys, async (request) => ({
      data: (await orders.rotateKeys(request)).map(toKeyRecord),
    })),
    handler(calls.opsRetireKey, async (request) => ({
      data: (await orders.retireKey(request)).map(toKeyRecord),
    })),

    handler(calls.opsAppendAudit, async (request) => toAuditRecord(await orders.audit(request))),
    handler(calls.opsListAudit, async (query) => toPublicPage(await audits.page(query), toAuditRecord)),
    handler(calls.opsAuthStatus, async () => ({ mongodb: await orders.databaseStatus() })),
  ]
}
