import { requireApproved } from '@pitboss/bus/ask-approval'
import { type CallHandler, handler, type HandlerContext } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import { doApproved } from '@pitboss/contracts/calls/approvals'
import { opsSetGame, opsSetGameLimits } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/sessions'
import { answerPage } from '@pitboss/storage/read-page'
import { showGame } from '../../../actions/offered-game.ts'
import type { RoundsContext } from '../../../context.ts'
import { changeApprovedGame, changeGame } from '../actions/change-game.ts'
import { listGames } from '../actions/list-games.ts'
import { setGameLimits, setGameStatus } from '../actions/platform-games.ts'
import { presentGame } from '../../../records/present-game.ts'

/** Calls about games. Source: docs/contract.md, sections 3, 4 and 11. */
export function gameCalls(context: RoundsContext): CallHandler[] {
  async function list(caller: Caller, query: Parameters<typeof listGames>[2]) {
    const { currencies } = caller.account
    return answerPage(await listGames(context, caller, query), (view) => presentGame(view, currencies))
  }

  async function change(
    { account }: Caller,
    slug: string,
    patch: GamePatch,
    by: ActedBy,
    call: HandlerContext,
  ) {
    const view = await changeGame(context, account, slug, patch, by, call)
    return { status: 200, body: presentGame(view, account.currencies) }
  }

  return [
    handler(endpoints.listGames.call, ({ caller, query }) => list(caller, query)),
    handler(endpoints.dashboardListGames.call, ({ caller, query }) => list(caller, query)),
    handler(endpoints.getGame.call, async ({ caller: { account }, params }) => ({
      status: 200,
      body: presentGame(await showGame(context, account.operator_id, params.slug), account.currencies),
    })),
    handler(endpoints.patchGame.call, ({ caller, params, body }, call) =>
      change(caller, params.slug, body, actedBy(caller, call), call),
    ),
    handler(endpoints.dashboardPatchGame.call, ({ caller, params, body }, call) =>
      change(caller, params.slug, body, actedBy(caller, call), call),
    ),
    handler(doApproved.game, async ({ account, order, seen, by }, call) => {
      await requireApproved({ order, seen, by }, { bus: context.bus, context: call })
      const { slug, patch } = order
      return { result: await changeApprovedGame(context, account, slug, patch, Number(seen), by) }
    }),
    handler(opsSetGameLimits, async ({ order, operatorId, slug, currency, limits }, { requestId }) => {
      const named = { operatorId, slug, currency }
      return { slug, ...(await setGameLimits(context, named, limits, order, requestId)) }
    }),
    handler(opsSetGame, async ({ order, slug, status }, { requestId }) => {
      await setGameStatus(context, slug, status, order, requestId)
      return { slug, status }
    }),
  ]
}

type GamePatch = Parameters<typeof changeGame>[3]
