import { ServiceError } from '@pitboss/errors/service-error'
import type { RoundsContext } from '../context.ts'
import type { GameView } from '../records/present-session.ts'
import type { CatalogueEntry } from '../rules/catalogue.ts'
import { accountLimits, allowedLimits } from '../rules/limits.ts'

type Catalogue = Pick<RoundsContext, 'catalogue'>
type Played = Catalogue & { readonly games: Pick<RoundsContext['games'], 'copy'> }

/** Finds a game of the catalogue. @throws ServiceError GAME_NOT_FOUND */
export function findGame({ catalogue }: Catalogue, slug: string): CatalogueEntry {
  const entry = catalogue.find(slug)
  if (entry !== null) return entry
  const slugs = catalogue.entries.map(({ game }) => game.slug)
  throw new ServiceError('GAME_NOT_FOUND', { message: `There is no such game. Games: ${slugs.join(', ')}.` })
}

/** Reads a game, its settings and its status from the database. @throws ServiceError GAME_NOT_FOUND */
export async function showGame(context: RoundsContext, operatorId: string, slug: string): Promise<GameView> {
  const entry = findGame(context, slug)
  const { games } = context
  const [settings, status] = await Promise.all([games.settings(operatorId, slug), games.status(slug)])
  return { entry, settings, status }
}

/** Reads a game as an account's players play it, from memory. @throws ServiceError GAME_NOT_FOUND */
export async function readPlayedGame(context: Played, operatorId: string, slug: string): Promise<GameView> {
  const entry = findGame(context, slug)
  return { entry, ...(await context.games.copy(operatorId, slug)) }
}

/** A game on offer. @throws ServiceError GAME_NOT_FOUND, GAME_NOT_ENABLED, GAME_UNAVAILABLE, in this order */
export async function readOfferedGame(context: Played, operatorId: string, slug: string) {
  const { entry, settings, status } = await readPlayedGame(context, operatorId, slug)
  if (!settings.enabled) throw new ServiceError('GAME_NOT_ENABLED')
  if (status === 'DOWN') throw new ServiceError('GAME_UNAVAILABLE')
  return {
    entry,
    limits(currency: string) {
      const allowed = allowedLimits(settings, currency)
      if (allowed === null) throw new ServiceError('CURRENCY_NOT_SUPPORTED')
      return accountLimits(allowed, settings.limits.get(currency) ?? null)
    },
  }
}
