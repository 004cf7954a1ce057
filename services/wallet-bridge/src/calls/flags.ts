import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { getFlag, getFlagRules, listFlags, patchFlag, putFlagRules } from '@pitboss/contracts/endpoints/flags'
import { answerPage } from '@pitboss/storage/read-page'
import type { KeepFlags } from '../actions/keep-flags.ts'
import { toFlag, toFlagCase } from '../records/render-flag.ts'
import { dashboardScope, scopesOf } from './dashboard-scope.ts'

/** What people ask about flags. Source: docs/contract.md, section 3. */
export function flagCalls(flags: KeepFlags): CallHandler[] {
  return [
    handler(listFlags.call, async ({ caller, query: { environment, ...query } }) =>
      answerPage(await flags.list(dashboardScope(caller, environment ?? 'TEST'), query), toFlag),
    ),
    handler(getFlag.call, async ({ caller, params, query }) => ({
      status: 200,
      body: toFlagCase(await flags.find(scopesOf(caller, query.environment), params.flag_id)),
    })),
    handler(patchFlag.call, async ({ caller, params, query, body }, context) => {
      const scopes = scopesOf(caller, query.environment)
      const changed = await flags.change(scopes, params.flag_id, body, actedBy(caller, context))
      return { status: 200, body: toFlagCase(changed) }
    }),
    handler(getFlagRules.call, async ({ caller, params }) => ({
      status: 200,
      body: await flags.rules(dashboardScope(caller, params.environment)),
    })),
    handler(putFlagRules.call, async ({ caller, params, body }, context) => {
      const scope = dashboardScope(caller, params.environment)
      return { status: 200, body: await flags.putRules(scope, body, actedBy(caller, context)) }
    }),
  ]
}
