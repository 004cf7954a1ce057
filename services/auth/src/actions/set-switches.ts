import type { opsSetOperator, opsSetPlatform } from '@pitboss/contracts/calls/auth-ops'
import { operatorHandleOf, operatorIdOf } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import type { PageQuery } from '../storage/account.ts'
import { createAppendAudit } from './append-audit.ts'
import type { AuthDeps } from './deps.ts'

/**
 * Reads and sets the switches of accounts and of the platform, and shows the state of its database.
 * Source: docs/contract.md, section 10.
 */
export function createSetSwitches(deps: AuthDeps) {
  const { stores, publishAccessChange } = deps
  const { operators, platform } = stores
  const audit = createAppendAudit(deps)

  /** @param text an operator's handle or id */
  const findOperator = async (text: string) => {
    const operatorId = operatorIdOf(text)
    const operator = operatorId === null ? null : await operators.find({ operatorId })
    if (operator === null) throw new ServiceError('NOT_FOUND', { message: `There is no operator ${text}.` })
    return operator
  }

  return {
    /** @throws ServiceError NOT_FOUND */
    findOperator,

    /** Lists all accounts, by id. */
    listOperators: (query: PageQuery) => operators.page(query),

    /** @throws ServiceError NOT_FOUND; VALIDATION_ERROR for an order without a switch */
    async setOperator(request: z.infer<typeof opsSetOperator.request>) {
      const { order, plan, approved, suspended, live_play } = request
      const operator = await findOperator(request.operator)
      const set = {
        ...(plan === undefined ? {} : { plan }),
        ...(approved === undefined ? {} : { approved }),
        ...(suspended === undefined ? {} : { suspended }),
        ...(live_play === undefined ? {} : { livePlay: live_play }),
      }
      if (Object.keys(set).length === 0)
        throw new ServiceError('VALIDATION_ERROR', { message: 'Name at least one switch to set.' })
      if (order.dryRun) return { ...operator, ...set }
      await operators.change({ operatorId: operator._id }, set)
      const target = operatorHandleOf(operator._id)
      await audit.append({ ...order, what: 'operator.set', target, details: set })
      await publishAccessChange.operator(operator._id)
      return findOperator(request.operator)
    },

    isRealMoneyOn: () => platform.isRealMoneyOn(),

    async setRealMoney({ order, real_money }: z.infer<typeof opsSetPlatform.request>): Promise<void> {
      if (order.dryRun) return
      await platform.setRealMoney(real_money)
      await audit.append({ ...order, what: 'platform.set', target: null, details: { real_money } })
      await publishAccessChange.platform()
    },

    /** Asks the database for its version and measures the answer, in milliseconds with one decimal. */
    async databaseStatus() {
      const askedAtMs = performance.now()
      const version = await platform.databaseVersion()
      return { version, ping_ms: Math.round((performance.now() - askedAtMs) * 10) / 10 }
    },
  }
}
