import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { createChangeBrands } from '../actions/change-brands.ts'
import { createChangeBusiness } from '../actions/change-business.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { toPublicBrand, toPublicBusiness } from '../records/account-view.ts'

/** Settings and brands of the account. Source: docs/contract.md, section 11. */
export function businessCalls(deps: AuthDeps): CallHandler[] {
  const changeBrands = createChangeBrands(deps)
  const changeBusiness = createChangeBusiness(deps)
  return [
    handler(endpoints.getBusiness.call, async ({ caller }) => ({
      status: 200,
      body: toPublicBusiness(await changeBusiness.find(caller.scope)),
    })),
    handler(endpoints.patchBusiness.call, async ({ caller, body }, context) => ({
      status: 200,
      body: toPublicBusiness(await changeBusiness.change(caller.scope, body, context)),
    })),

    handler(endpoints.listBrands.call, async ({ caller, query }) => {
      const { rows, nextCursor } = await changeBrands.list(caller.scope, query)
      return { status: 200, body: { data: rows.map(toPublicBrand), next_cursor: nextCursor } }
    }),
    handler(endpoints.createBrand.call, async ({ caller, body }) => ({
      status: 201,
      body: toPublicBrand(await changeBrands.create(caller, body)),
    })),
    handler(endpoints.deleteBrand.call, async ({ caller, params }) => {
      await changeBrands.remove(caller.scope, params.brand_id ?? '')
      return { status: 204, body: null }
    }),
  ]
}
