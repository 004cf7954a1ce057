import { requireApproved } from '@pitboss/bus/ask-approval'
import type { Bus } from '@pitboss/bus/connect-bus'
import { type CallHandler, handler, type HandlerContext } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import { doApproved } from '@pitboss/contracts/calls/approvals'
import { opsSetGame, opsSetGameLimits } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import {
  dashboardListGames,
  dashboardPatchGame,
  getGame,
  listGames,
  patchGame,
} from '@pitboss/contracts/endpoints/sessions'
import { answerPage } from '@pitboss/storage/read-page'
import type { Games } from '../actions/games.ts'
import { presentGame } from '../records/present-game.ts'

/**
 * Calls about the catalogue with the account's settings, and the platform's switch of a game.
 * Source: docs/contract.md, sections 3, 4 and 11.
 */
export function createGameHandlers({ games, bus }: { games: Games; bus: Bus }): CallHandler[] {
  async function list(caller: Caller, query: Parameters<Games['list']>[1]) {
    const { currencies } = caller.account
    return answerPage(await games.list(caller, query), (view) => presentGame(view, currencies))
  }

  async function change(
    { account }: Caller,
    slug: string,
    patch: Parameters<Games['change']>[2],
    by: ActedBy,
    context: HandlerContext,
  ) {
    const view = await games.change(account, slug, patch, by, context)
    return { status: 200, body: presentGame(view, account.currencies) }
  }

  return [
    handler(listGames.call, ({ caller, query }) => list(caller, query)),
    handler(dashboardListGames.call, ({ caller, query }) => list(caller, query)),
    handler(getGame.call, async ({ caller: { account }, params }) => ({
      status: 200,
      body: presentGame(await games.find(account.operator_id, params.slug), account.currencies),
    })),
    handler(patchGame.call, ({ caller, params, body }, context) =>
      change(caller, params.slug, body, actedBy(caller, context), context),
    ),
    handler(dashboardPatchGame.call, ({ caller, params, body }, context) =>
      change(caller, params.slug, body, actedBy(caller, context), context),
    ),
    handler(doApproved.game, async ({ account, order, seen, by }, context) => {
      await requireApproved({ order, seen, by }, { bus, context })
      const { slug, patch } = order
      return { result: await games.changeApproved(account, slug, patch, Number(seen), by) }
    }),
    handler(opsSetGameLimits, async ({ order, operatorId, slug, currency, limits }, { requestId }) => {
      const named = { operatorId, slug, currency }
      return { slug, ...(await games.setLimits(named, limits, order, requestId)) }
    }),
    handler(opsSetGame, async ({ order, slug, status }, { requestId }) => {
      await games.setStatus(slug, status, order, requestId)
      return { slug, status }
    }),
  ]
}
