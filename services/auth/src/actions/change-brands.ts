import type { Caller, Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import type { PageQuery } from '../storage/account.ts'
import type { AuthDeps } from './deps.ts'

const brandsMax = 1000

/** Lists, creates and deletes the brands of an account. Source: docs/contract.md, section 11. */
export function createChangeBrands({ stores, publishAccessChange, clock, newId }: AuthDeps) {
  const { brands, idempotency, operators } = stores

  /** Publishes the account, because the gateways send its brands along with every call. */
  const publish = async (scope: Scope) => {
    await operators.change(scope)
    await publishAccessChange.operator(scope.operatorId)
  }

  return {
    /** Lists brands, newest first. */
    list: (scope: Scope, query: PageQuery) => brands.page(scope, query),

    /**
     * Creates a brand once for each Idempotency-Key.
     * @throws ServiceError CONFLICT for the 1001st brand or a name in use
     */
    async create(caller: Caller, { name }: { name: string }) {
      const now = clock.now()
      const claim = await idempotency.claim(caller, {
        list: 'brands',
        body: { name },
        newId: () => newId('brd'),
        now,
      })
      if ((await brands.count(caller.scope)) >= brandsMax)
        throw new ServiceError('CONFLICT', { message: `An account has at most ${brandsMax} brands.` })
      const { operatorId } = caller.scope
      const stored = await brands.insert({ _id: claim.objectId, operatorId, name, createdAt: now })
      if (stored === null)
        throw new ServiceError('CONFLICT', { message: 'There is a brand of this name already.' })
      await publish(caller.scope)
      return stored
    },

    /** @throws ServiceError BRAND_NOT_FOUND */
    async remove(scope: Scope, brandId: string): Promise<void> {
      if (!(await brands.remove(scope, brandId))) throw new ServiceError('BRAND_NOT_FOUND')
      await publish(scope)
    },
  }
}
