import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { auditSource } from '@pitboss/contracts/audit-chain'
import { appendAudit, appendRequestLog } from '@pitboss/contracts/calls/auth'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { createChangeBusiness } from '../actions/change-business.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { createKeepViews } from '../actions/keep-views.ts'
import { createReadAudit } from '../actions/read-audit.ts'
import { createRecordRequests } from '../actions/record-requests.ts'
import {
  toPublicBrand,
  toPublicBusiness,
  toPublicPage,
  toPublicRequest,
  toPublicView,
} from '../records/account-view.ts'
import { toPublicAudit, toPublicHead } from '../records/audit-view.ts'

/**
 * Settings, brands, saved views, request log and audit log of the account. Source: docs/contract.md, sections
 * 3, 11, 12.
 */
export function accountCalls(deps: AuthDeps): CallHandler[] {
  const { audits, brands, views } = deps.stores
  const { takeAudit } = deps
  const readAudit = createReadAudit(deps)
  const changeBusiness = createChangeBusiness(deps)
  const keepViews = createKeepViews(deps)
  const recordRequests = createRecordRequests(deps)
  return [
    ...[endpoints.getBusiness, endpoints.dashboardGetBusiness].map(({ call }) =>
      handler(call, async ({ caller }) => ({
        status: 200,
        body: toPublicBusiness(await changeBusiness.find(caller.scope)),
      })),
    ),
    ...[endpoints.patchBusiness, endpoints.dashboardPatchBusiness].map(({ call }) =>
      handler(call, async ({ caller, body }, context) => ({
        status: 200,
        body: toPublicBusiness(await changeBusiness.change(caller, body, actedBy(caller, context), context)),
      })),
    ),

    handler(endpoints.listBrands.call, async ({ caller, query }) => ({
      status: 200,
      body: toPublicPage(await brands.page(caller.scope, query), toPublicBrand),
    })),
    handler(endpoints.createBrand.call, async ({ caller, body }, context) => ({
      status: 201,
      body: toPublicBrand(await changeBusiness.createBrand(caller, body, actedBy(caller, context))),
    })),
    handler(endpoints.deleteBrand.call, async ({ caller, params }, context) => {
      await changeBusiness.removeBrand(caller.scope, params.brand_id, actedBy(caller, context))
      return { status: 204, body: null }
    }),

    handler(endpoints.listViews.call, async ({ caller, query }) => ({
      status: 200,
      body: toPublicPage(await views.page(caller.scope, query), toPublicView),
    })),
    handler(endpoints.createView.call, async ({ caller, body }, context) => ({
      status: 201,
      body: toPublicView(await keepViews.create(caller, body, actedBy(caller, context))),
    })),
    handler(endpoints.deleteView.call, async ({ caller, params }, context) => {
      await keepViews.remove(caller, params.view_id, actedBy(caller, context))
      return { status: 204, body: null }
    }),

    handler(appendRequestLog, async ({ rows }) => ({ written: await recordRequests.append(rows) })),
    handler(endpoints.listRequestLogs.call, async ({ caller, query }) => ({
      status: 200,
      body: toPublicPage(await recordRequests.list(caller.scope, query), toPublicRequest),
    })),

    handler(endpoints.listMistakes.call, async ({ caller }) => ({
      status: 200,
      body: await recordRequests.mistakes(caller.scope, deps.clock.now()),
    })),

    ...auditSource.options.flatMap((source) =>
      source === 'auth'
        ? []
        : [
            handler(appendAudit[source], async ({ entries }) => ({
              written: await takeAudit(source, entries),
            })),
          ],
    ),
    handler(endpoints.listAudit.call, async ({ caller, query }) => ({
      status: 200,
      body: {
        ...toPublicPage(await readAudit(caller.scope, query), toPublicAudit),
        head: toPublicHead(await audits.head(caller.scope)),
      },
    })),
  ]
}
