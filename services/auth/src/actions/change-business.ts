import type { CallContext } from '@pitboss/contracts/call'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import type { businessPatchSchema } from '@pitboss/contracts/objects/account'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { brandsMax, requireCurrencies, requireTimezone } from '../rules/account-rules.ts'
import type { AuthDeps } from './deps.ts'

/** Reads and changes the settings and brands of an account. Source: docs/contract.md, section 11. */
export function createChangeBusiness({ stores, bus, publishAccessChange, clock, newId }: AuthDeps) {
  const { brands, idempotency, operators } = stores

  /** @throws ServiceError NOT_FOUND */
  async function find(scope: Scope) {
    const operator = await operators.find(scope)
    if (operator === null) throw new ServiceError('NOT_FOUND')
    return operator
  }

  /** @throws ServiceError CONFLICT when active sessions use one of the `dropped` currencies */
  async function requireUnused(dropped: readonly string[], { operatorId }: Scope, context: CallContext) {
    if (dropped.length === 0) return
    const used = (await bus.call(currenciesInUse, { operatorId }, context)).currencies
    const inUse = used.filter((code) => dropped.includes(code))
    if (inUse.length > 0)
      throw new ServiceError('CONFLICT', {
        message: `Active sessions use ${inUse.join(', ')}; close them first.`,
      })
  }

  /** Publishes the account, because the gateways send its brands along with every call. */
  async function publishBrands(scope: Scope): Promise<void> {
    await operators.change(scope)
    await publishAccessChange.operator(scope.operatorId)
  }

  return {
    find,

    /** @throws ServiceError VALIDATION_ERROR; CONFLICT for a dropped currency that active sessions use */
    async change(scope: Scope, body: z.infer<typeof businessPatchSchema>, context: CallContext) {
      const { currencies, timezone, require_totp: requireTotp, ...rest } = body
      const operator = await find(scope)
      if (timezone !== undefined) requireTimezone(timezone)
      if (currencies !== undefined) {
        requireCurrencies(currencies)
        const dropped = operator.currencies.filter((code) => !currencies.includes(code))
        await requireUnused(dropped, scope, context)
      }
      await operators.change(scope, { ...rest, currencies, timezone, requireTotp })
      await publishAccessChange.operator(scope.operatorId)
      return find(scope)
    },

    /**
     * Creates a brand once for each Idempotency-Key.
     * @throws ServiceError CONFLICT for the 1001st brand or a name in use
     */
    async createBrand(caller: Caller, { name }: { name: string }) {
      const now = clock.now()
      const makeId = () => newId('brd')
      const claim = await idempotency.claim(caller, { list: 'brands', body: { name }, newId: makeId, now })
      if ((await brands.count(caller.scope)) >= brandsMax)
        throw new ServiceError('CONFLICT', { message: `An account has at most ${brandsMax} brands.` })
      const { operatorId } = caller.scope
      const stored = await brands.insert({ _id: claim.objectId, operatorId, name, createdAt: now })
      if (stored === null)
        throw new ServiceError('CONFLICT', { message: 'There is a brand of this name already.' })
      await publishBrands(caller.scope)
      return stored
    },

    /** @throws ServiceError BRAND_NOT_FOUND */
    async removeBrand(scope: Scope, brandId: string): Promise<void> {
      if (!(await brands.remove(scope, brandId))) throw new ServiceError('BRAND_NOT_FOUND')
      await publishBrands(scope)
    },
  }
}
