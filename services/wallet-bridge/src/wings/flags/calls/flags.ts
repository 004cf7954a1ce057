import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/flags'
import { answerPage } from '@pitboss/storage/read-page'
import { changeFlag, findFlag, listFlags, putFlagRules, readFlagRules } from '../actions/keep-flags.ts'
import type { FlagsContext } from '../context.ts'
import { toFlag, toFlagCase } from '../records/render-flag.ts'

/** What people ask about flags. Source: docs/contract.md, section 3. */
export function flagCalls(context: FlagsContext): CallHandler[] {
  return [
    handler(endpoints.listFlags.call, async ({ caller, query }) =>
      answerPage(await listFlags(context, caller.scope, query), toFlag),
    ),
    handler(endpoints.getFlag.call, async ({ caller, params }) =>
      answer(toFlagCase(await findFlag(context, caller, params.flag_id))),
    ),
    handler(endpoints.patchFlag.call, async ({ caller, params, body }, call) =>
      answer(toFlagCase(await changeFlag(context, caller, params.flag_id, body, actedBy(caller, call)))),
    ),
    handler(endpoints.getFlagRules.call, async ({ caller }) =>
      answer(await readFlagRules(context, caller.scope)),
    ),
    handler(endpoints.putFlagRules.call, async ({ caller, body }, call) =>
      answer(await putFlagRules(context, caller.scope, body, actedBy(caller, call))),
    ),
  ]
}
