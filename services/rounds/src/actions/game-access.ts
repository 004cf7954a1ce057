import { ServiceError } from '@pitboss/errors/service-error'
import type { Catalogue, CatalogueEntry } from '../rules/catalogue.ts'
import { type Limits, narrow, platformLimits } from '../rules/limits.ts'
import type { GamesStore } from '../storage/games-store.ts'

export type OfferedGame = {
  readonly entry: CatalogueEntry
  /**
   * The account's limits inside the platform's.
   * @throws ServiceError CURRENCY_NOT_SUPPORTED for a code that is no currency
   */
  limits(currency: string): Limits
}

export type GameAccess = ReturnType<typeof createGameAccess>

/** Creates the lookup of games that an account may offer now, with their limits. */
export function createGameAccess({ catalogue, games }: { catalogue: Catalogue; games: GamesStore }) {
  return {
    /** @throws ServiceError GAME_NOT_FOUND */
    find(slug: string): CatalogueEntry {
      const entry = catalogue.find(slug)
      if (entry === null) throw new ServiceError('GAME_NOT_FOUND')
      return entry
    },

    /** @throws ServiceError GAME_NOT_FOUND, GAME_NOT_ENABLED, GAME_UNAVAILABLE, in this order. */
    async offered(operatorId: string, slug: string): Promise<OfferedGame> {
      const entry = this.find(slug)
      const [settings, status] = await Promise.all([games.settings(operatorId, slug), games.status(slug)])
      if (!settings.enabled) throw new ServiceError('GAME_NOT_ENABLED')
      if (status === 'DOWN') throw new ServiceError('GAME_UNAVAILABLE')
      return {
        entry,
        limits(currency) {
          const platform = platformLimits(currency)
          if (platform === null) throw new ServiceError('CURRENCY_NOT_SUPPORTED')
          return narrow(platform, settings.limits.get(currency) ?? null)
        },
      }
    },
  }
}
