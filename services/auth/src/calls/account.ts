import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { appendRequestLog } from '@pitboss/contracts/calls/auth'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { createChangeBusiness } from '../actions/change-business.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { createRecordRequests } from '../actions/record-requests.ts'
import { toPublicBrand, toPublicBusiness, toPublicPage, toPublicRequest } from '../records/account-view.ts'

/** Settings, brands and request log of the account. Source: docs/contract.md, sections 3 and 11. */
export function accountCalls(deps: AuthDeps): CallHandler[] {
  const { brands } = deps.stores
  const changeBusiness = createChangeBusiness(deps)
  const recordRequests = createRecordRequests(deps)
  return [
    handler(endpoints.getBusiness.call, async ({ caller }) => ({
      status: 200,
      body: toPublicBusiness(await changeBusiness.find(caller.scope)),
    })),
    handler(endpoints.patchBusiness.call, async ({ caller, body }, context) => ({
      status: 200,
      body: toPublicBusiness(await changeBusiness.change(caller.scope, body, context)),
    })),

    handler(endpoints.listBrands.call, async ({ caller, query }) => ({
      status: 200,
      body: toPublicPage(await brands.page(caller.scope, query), toPublicBrand),
    })),
    handler(endpoints.createBrand.call, async ({ caller, body }) => ({
      status: 201,
      body: toPublicBrand(await changeBusiness.createBrand(caller, body)),
    })),
    handler(endpoints.deleteBrand.call, async ({ caller, params }) => {
      await changeBusiness.removeBrand(caller.scope, params.brand_id)
      return { status: 204, body: null }
    }),

    handler(appendRequestLog, async ({ rows }) => ({ written: await recordRequests.append(rows) })),
    handler(endpoints.listRequestLogs.call, async ({ caller, query }) => ({
      status: 200,
      body: toPublicPage(await recordRequests.list(caller.scope, query), toPublicRequest),
    })),
  ]
}
