import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { opsSetGame } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import {
  dashboardListGames,
  dashboardPatchGame,
  getGame,
  listGames,
  patchGame,
} from '@pitboss/contracts/endpoints/sessions'
import type { ChangeGame } from '../actions/change-game.ts'
import type { ReadGames } from '../actions/read-games.ts'
import { presentGame } from '../records/present-game.ts'

type GamesDeps = { games: ReadGames; changes: ChangeGame }

/**
 * Calls about the catalogue with the account's settings, and the platform's switch of a game.
 * Source: docs/contract.md, sections 3, 4 and 11.
 */
export function createGameHandlers({ games, changes }: GamesDeps): CallHandler[] {
  async function list(caller: Caller, query: Parameters<ReadGames['list']>[1]) {
    const { items, nextCursor } = await games.list(caller, query)
    const data = items.map((view) => presentGame(view, caller.account.currencies))
    return { status: 200, body: { data, next_cursor: nextCursor } }
  }

  async function change({ account }: Caller, slug: string, patch: Parameters<ChangeGame['change']>[2]) {
    const view = await changes.change(account, slug, patch)
    return { status: 200, body: presentGame(view, account.currencies) }
  }

  return [
    handler(listGames.call, ({ caller, query }) => list(caller, query)),
    handler(dashboardListGames.call, ({ caller, query }) => list(caller, query)),
    handler(getGame.call, async ({ caller: { account }, params }) => ({
      status: 200,
      body: presentGame(await games.find(account.operator_id, params.slug), account.currencies),
    })),
    handler(patchGame.call, ({ caller, params, body }) => change(caller, params.slug, body)),
    handler(dashboardPatchGame.call, ({ caller, params, body }) => change(caller, params.slug, body)),
    handler(opsSetGame, async ({ order, slug, status }) => {
      await changes.setStatus(slug, status, order)
      return { slug, status }
    }),
  ]
}
