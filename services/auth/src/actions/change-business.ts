import type { CallContext } from '@pitboss/contracts/call'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import type { Scope } from '@pitboss/contracts/caller'
import type { businessPatchSchema } from '@pitboss/contracts/objects/account'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { requireCurrencies, requireTimezone } from '../rules/account-settings.ts'
import type { AuthDeps } from './deps.ts'

/** Reads and changes the settings of an account. Source: docs/contract.md, section 11. */
export function createChangeBusiness({ stores: { operators }, bus, publishAccessChange }: AuthDeps) {
  const find = async (scope: Scope) => {
    const operator = await operators.find(scope)
    if (operator === null) throw new ServiceError('NOT_FOUND')
    return operator
  }

  return {
    /** @throws ServiceError NOT_FOUND */
    find,

    /** @throws ServiceError VALIDATION_ERROR; CONFLICT for a dropped currency that active sessions use */
    async change(scope: Scope, body: z.infer<typeof businessPatchSchema>, context: CallContext) {
      const { currencies, name, timezone } = body
      const operator = await find(scope)
      if (timezone !== undefined) requireTimezone(timezone)
      if (currencies !== undefined) {
        requireCurrencies(currencies)
        const dropped = operator.currencies.filter((code) => !currencies.includes(code))
        if (dropped.length > 0) {
          const { operatorId } = scope
          const used = (await bus.call(currenciesInUse, { operatorId }, context)).currencies
          const inUse = used.filter((code) => dropped.includes(code))
          if (inUse.length > 0)
            throw new ServiceError('CONFLICT', {
              message: `Active sessions use ${inUse.join(', ')}; close them first.`,
            })
        }
      }
      await operators.change(scope, {
        ...(name === undefined ? {} : { name }),
        ...(timezone === undefined ? {} : { timezone }),
        ...(currencies === undefined ? {} : { currencies }),
      })
      await publishAccessChange.operator(scope.operatorId)
      return find(scope)
    },
  }
}
