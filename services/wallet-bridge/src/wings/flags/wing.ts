import { answer, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/flags'
import { answerPage } from '@pitboss/storage/read-page'
import { flagRulesOf } from '../../rules/flags.ts'
import type { Wing } from '../../wing.ts'
import { changeFlag, findFlag, listFlags, putFlagRules, raiseFlags } from './actions/manage-flags.ts'
import { toFlag, toFlagCase } from './records/render-flag.ts'
import { createFlagStore, flagIndexes } from './storage/flag-store.ts'

/** Movements that somebody should check, with a case about each. Source: docs/contract.md, section 3. */
export const flags: Wing = {
  indexes: flagIndexes,
  audited: ['flags'],
  open(core, { db, readMoney }) {
    const context = { ...core, readMoney, flags: createFlagStore(db) }
    return {
      calls: [
        handler(endpoints.listFlags.call, async ({ caller, query }) =>
          answerPage(await listFlags(context, caller.scope, query), toFlag),
        ),
        handler(endpoints.getFlag.call, async ({ caller, params }) =>
          answer(toFlagCase(await findFlag(context, caller, params.flag_id))),
        ),
        handler(endpoints.patchFlag.call, async (asked, call) =>
          answer(toFlagCase(await changeFlag(context, asked, call))),
        ),
        handler(endpoints.getFlagRules.call, async ({ caller }) =>
          answer(flagRulesOf(await core.wallets.find(caller.scope))),
        ),
        handler(endpoints.putFlagRules.call, async ({ caller, body }, call) =>
          answer(await putFlagRules(context, caller.scope, body, actedBy(caller, call))),
        ),
      ],
      duties: [{ name: 'flags', run: (entries) => raiseFlags(context, entries) }],
    }
  },
}
