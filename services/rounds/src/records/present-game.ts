import type { Game } from '@pitboss/contracts/objects/game'
import { formatAmount } from '@pitboss/money/amount'
import { formatMultiplier } from '@pitboss/money/rational'
import type { CatalogueEntry } from '../rules/catalogue.ts'
import { accountLimits, allowedLimits, type Limits, narrow, type StakeRange } from '../rules/limits.ts'
import type { GameSettings, GameStatus } from '../storage/games-store.ts'

/** A game with what an account and operations have set about it. */
export type GameView = {
  readonly entry: CatalogueEntry
  readonly settings: GameSettings
  readonly status: GameStatus
}

/** The public record; `session` narrows the limits in its currency. Source: docs/contract.md, section 4. */
export function presentGame(
  { entry: { game, gameId, rtp, leastReturn }, settings, status }: GameView,
  currencies: readonly string[],
  session: { readonly currency: string; readonly range: StakeRange | null } | null = null,
): Game {
  return {
    slug: game.slug,
    game_id: gameId,
    name: game.name,
    enabled: settings.enabled,
    status,
    rtp: formatMultiplier(rtp),
    limits: currencies.flatMap((currency) => {
      const allowed = allowedLimits(settings, currency)
      if (allowed === null) return []
      const ofAccount = accountLimits(allowed, settings.limits.get(currency) ?? null)
      const own = session?.currency === currency ? session.range : null
      const limits = narrow(ofAccount, own)
      const least = leastReturn({ stake: limits.minStake, maxPayout: limits.maxPayout })
      return [
        {
          ...presentLimits(limits, currency),
          rtp_at_min_stake: least === null ? null : formatMultiplier(least),
        },
      ]
    }),
    bet_schema: { ...game.betSchema },
  }
}

function presentLimits({ minStake, maxStake, maxPayout }: Limits, currency: string) {
  return {
    currency,
    min_stake: formatAmount(minStake, currency),
    max_stake: formatAmount(maxStake, currency),
    max_payout: formatAmount(maxPayout, currency),
  }
}
