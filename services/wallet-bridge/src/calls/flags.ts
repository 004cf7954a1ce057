import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/flags'
import { answerPage } from '@pitboss/storage/read-page'
import { changeFlag, findFlag, listFlags, putFlagRules, readFlagRules } from '../actions/keep-flags.ts'
import type { WalletContext } from '../context.ts'
import { toFlag, toFlagCase } from '../records/render-flag.ts'
import { dashboardScope, scopesOf } from './dashboard-scope.ts'

/** What people ask about flags. Source: docs/contract.md, section 3. */
export function flagCalls(context: WalletContext): CallHandler[] {
  return [
    handler(endpoints.listFlags.call, async ({ caller, query: { environment, ...query } }) =>
      answerPage(await listFlags(context, dashboardScope(caller, environment ?? 'TEST'), query), toFlag),
    ),
    handler(endpoints.getFlag.call, async ({ caller, params, query }) => ({
      status: 200,
      body: toFlagCase(await findFlag(context, scopesOf(caller, query.environment), params.flag_id)),
    })),
    handler(endpoints.patchFlag.call, async ({ caller, params, query, body }, call) => {
      const scopes = scopesOf(caller, query.environment)
      const changed = await changeFlag(context, scopes, params.flag_id, body, actedBy(caller, call))
      return { status: 200, body: toFlagCase(changed) }
    }),
    handler(endpoints.getFlagRules.call, async ({ caller, params }) => ({
      status: 200,
      body: await readFlagRules(context, dashboardScope(caller, params.environment)),
    })),
    handler(endpoints.putFlagRules.call, async ({ caller, params, body }, call) => {
      const scope = dashboardScope(caller, params.environment)
      return { status: 200, body: await putFlagRules(context, scope, body, actedBy(caller, call)) }
    }),
  ]
}
