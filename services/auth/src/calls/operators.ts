import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/auth-ops'
import { createAppendAudit } from '../actions/append-audit.ts'
import { createCreateOperator } from '../actions/create-operator.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { createRotateKeys } from '../actions/rotate-keys.ts'
import { createSetSwitches } from '../actions/set-switches.ts'
import { toOperatorRecord } from '../records/account-view.ts'
import { toAuditRecord, toKeyRecord } from '../records/operations-view.ts'

/**
 * Orders of operations people: accounts, switches, keys, the audit log.
 * Source: docs/contract.md, section 10.
 */
export function operatorCalls(deps: AuthDeps): CallHandler[] {
  const { signer } = deps
  const audit = createAppendAudit(deps)
  const createOperator = createCreateOperator(deps)
  const rotateKeys = createRotateKeys(deps)
  const setSwitches = createSetSwitches(deps)
  return [
    handler(calls.opsCreateOperator, (request) => createOperator(request)),
    handler(calls.opsListOperators, async ({ cursor, limit }) => {
      const page = { limit, cursor: cursor ?? undefined }
      const { rows, nextCursor } = await setSwitches.listOperators(page)
      return { data: rows.map(toOperatorRecord), next_cursor: nextCursor }
    }),
    handler(calls.opsShowOperator, async ({ operator }) =>
      toOperatorRecord(await setSwitches.findOperator(operator)),
    ),
    handler(calls.opsSetOperator, async (request) =>
      toOperatorRecord(await setSwitches.setOperator(request)),
    ),

    handler(calls.opsShowPlatform, async () => ({ real_money: await setSwitches.isRealMoneyOn() })),
    handler(calls.opsSetPlatform, async (request) => {
      await setSwitches.setRealMoney(request)
      return { real_money: request.real_money }
    }),

    handler(calls.opsListKeys, async () => ({ data: (await signer.keys()).map(toKeyRecord) })),
    handler(calls.opsRotateKeys, async (request) => ({ data: (await rotateKeys(request)).map(toKeyRecord) })),

    handler(calls.opsAppendAudit, async (request) => toAuditRecord(await audit.append(request))),
    handler(calls.opsListAudit, async ({ cursor, limit }) => {
      const { rows, nextCursor } = await audit.list({ limit, cursor: cursor ?? undefined })
      return { data: rows.map(toAuditRecord), next_cursor: nextCursor }
    }),
    handler(calls.opsAuthStatus, async () => ({ mongodb: await setSwitches.databaseStatus() })),
  ]
}
