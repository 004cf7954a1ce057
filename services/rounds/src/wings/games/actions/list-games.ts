import type { Caller } from '@pitboss/contracts/caller'
import { type Page, type PageQuery, readPage } from '@pitboss/storage/read-page'
import { showGame } from '../../../actions/offered-game.ts'
import type { GameView } from '../../../records/present-game.ts'
import type { RoundsContext } from '../../../context.ts'

/** Lists the catalogue with the account's settings. Source: docs/contract.md, sections 3, 4 and 11. */
export async function listGames(
  context: RoundsContext,
  { scope, account }: Caller,
  query: PageQuery,
): Promise<Page<GameView>> {
  const { catalogue, cursors } = context
  const { items, nextCursor } = await readPage({
    cursors,
    binding: { list: 'games', scope },
    query,
    read: async (before: number | null, max) => {
      const start = before === null ? 0 : before + 1
      return catalogue.entries.slice(start, start + max)
    },
    positionOf: (entry) => catalogue.entries.indexOf(entry),
  })
  const views = items.map(({ game }) => showGame(context, account.operator_id, game.slug))
  return { items: await Promise.all(views), nextCursor }
}
