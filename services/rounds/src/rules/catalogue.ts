import type { Game } from '@pitboss/fairness/games/game'
import { games as allGames } from '@pitboss/fairness/games/registry'
import type { Rational } from '@pitboss/money/rational'
import { v5 } from 'uuid'

/** A game as the platform offers it to every account. */
export type CatalogueEntry = {
  readonly game: Game
  /** The id of the game, fixed for ever; `wallet_game_id` of its rounds. */
  readonly gameId: string
  readonly rtp: Rational
}

export type Catalogue = {
  readonly entries: readonly CatalogueEntry[]
  find(slug: string): CatalogueEntry | null
}

/** Namespace of the game ids: the id follows from the slug alone. Never change it, wallets know the ids. */
const gameIdNamespace = '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a41'

/** The catalogue of the registered games; a further game needs its line in the registry and nothing here. */
export function createCatalogue(games: readonly Game[] = allGames): Catalogue {
  const entries = games.map((game) => ({ game, gameId: v5(game.slug, gameIdNamespace), rtp: game.rtp }))
  return { entries, find: (slug) => entries.find((entry) => entry.game.slug === slug) ?? null }
}
