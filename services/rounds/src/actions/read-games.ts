import type { Caller } from '@pitboss/contracts/caller'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { z } from 'zod'
import type { Catalogue, CatalogueEntry } from '../rules/catalogue.ts'
import type { GameSettings, GamesStore } from '../storage/games-store.ts'
import type { GameAccess } from './game-access.ts'
import { type Page, type PageQuery, readPage } from './read-page.ts'

/** One game as an account sees it. */
export type GameView = {
  readonly entry: CatalogueEntry
  readonly settings: GameSettings
  readonly status: 'AVAILABLE' | 'DOWN'
}

export type ReadGames = ReturnType<typeof createReadGames>

/**
 * Creates the reads of the catalogue with the account's settings.
 * Source: docs/contract.md, sections 3, 4 and 11.
 */
export function createReadGames({
  catalogue,
  games,
  access,
  cursors,
}: {
  catalogue: Catalogue
  games: Pick<GamesStore, 'settings' | 'status'>
  access: Pick<GameAccess, 'find'>
  cursors: CursorCodec
}) {
  return { find, list }

  /** @throws ServiceError GAME_NOT_FOUND */
  async function find(operatorId: string, slug: string): Promise<GameView> {
    const entry = access.find(slug)
    const [settings, status] = await Promise.all([games.settings(operatorId, slug), games.status(slug)])
    return { entry, settings, status }
  }

  async function list({ scope, account }: Caller, query: PageQuery): Promise<Page<GameView>> {
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: 'games', scope },
      query,
      position: z.int().min(0),
      read: async (before, max) => {
        const start = before === null ? 0 : before + 1
        return catalogue.entries.slice(start, start + max)
      },
      positionOf: (entry) => catalogue.entries.indexOf(entry),
    })
    const views = await Promise.all(items.map(({ game }) => find(account.operator_id, game.slug)))
    return { items: views, nextCursor }
  }
}
