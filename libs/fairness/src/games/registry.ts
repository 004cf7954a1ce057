import { dice } from './dice.ts'
import type { Game } from './game.ts'
import { mines } from './mines.ts'
import { spinBottle } from './spin-bottle.ts'

/** Every game of the product, in the order of the catalogue. */
export const games: readonly Game[] = [dice, mines, spinBottle]

/** The game with this slug, or null. */
export function gameBySlug(slug: string, from: readonly Game[] = games): Game | null {
  return from.find((game) => game.slug === slug) ?? null
}
