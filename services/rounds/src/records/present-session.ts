import type { SessionCreatedData } from '@pitboss/contracts/objects/event'
import type { Session } from '@pitboss/contracts/objects/session'
import { formatAmount } from '@pitboss/money/amount'
import type { FreeBet, Game } from '@pitboss/contracts/objects/game'
import { formatMultiplier } from '@pitboss/money/rational'
import type { CatalogueEntry } from '../rules/catalogue.ts'
import { accountLimits, allowedLimits, type Limits, narrow, type StakeRange } from '../rules/limits.ts'
import { sessionStatusAt } from '../rules/live-rules.ts'
import type { GameSettings, GameStatus } from '../storage/games-store.ts'
import type { GrantDocument } from '../storage/grants-store.ts'
import type { NewSession } from '../storage/sessions-store.ts'

/** The public record of a session at `now`. Source: docs/contract.md, section 4. */
export function presentSession(session: NewSession, now: Date): Session {
  const { currency, limits, jurisdiction, realityCheckS, stakeCap } = session
  const amountOf = (minor: string | null) => (minor === null ? null : formatAmount(BigInt(minor), currency))
  return {
    session_id: session._id,
    status: sessionStatusAt(session, now),
    player_id: session.playerId,
    game: session.game,
    currency,
    brand: session.brandId,
    environment: session.environment,
    language: session.language,
    country: session.country,
    return_url: session.returnUrl,
    metadata: Object.fromEntries(session.metadata.map(({ key, value }) => [key, value])),
    limits:
      limits === null ? null : { min_stake: amountOf(limits.minStake), max_stake: amountOf(limits.maxStake) },
    ...(jurisdiction === undefined ? {} : { jurisdiction }),
    ...(realityCheckS === undefined ? {} : { reality_check_s: realityCheckS }),
    ...(stakeCap === undefined ? {} : { stake_cap: stakeCap }),
    created_at: session.createdAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    closed_at: session.closedAt?.toISOString() ?? null,
  }
}

export function sessionCreatedData(session: NewSession): SessionCreatedData {
  const { session_id, game, player_id, currency, brand, expires_at } = presentSession(
    session,
    session.createdAt,
  )
  return { session_id, game, player_id, currency, brand, expires_at }
}

/** The public record of a grant at `now`. Source: docs/contract.md, section 4. */
export function presentFreeBet(grant: GrantDocument, now: Date): FreeBet {
  return {
    grant_id: grant._id,
    status: grantStatusAt(grant, now),
    player_id: grant.playerId,
    game: grant.game,
    currency: grant.currency,
    stake: formatAmount(BigInt(grant.stake), grant.currency),
    count: grant.count,
    remaining: grant.remaining,
    reference: grant.reference ?? null,
    environment: grant.environment,
    created_at: grant.createdAt.toISOString(),
    expires_at: grant.expiresAt?.toISOString() ?? null,
    cancelled_at: grant.cancelledAt?.toISOString() ?? null,
  }
}

type Ends = Pick<GrantDocument, 'remaining' | 'expiresAt' | 'cancelledAt'>

export function presentUsableFreeBet(grant: GrantDocument, now: Date) {
  const { grant_id, remaining, stake, expires_at } = presentFreeBet(grant, now)
  return { grant_id, remaining, stake, expires_at }
}

/** The status of a grant at `now`: CANCELLED stays, the others follow from the count and the clock. */
export function grantStatusAt(grant: Ends, now: Date): FreeBet['status'] {
  if (grant.cancelledAt !== null) return 'CANCELLED'
  if (grant.remaining <= 0) return 'EXHAUSTED'
  return grant.expiresAt !== null && now >= grant.expiresAt ? 'EXPIRED' : 'ACTIVE'
}

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
      const own = session?.currency === currency ? session.range : null
      const limits = narrow(accountLimits(allowed, settings.limits.get(currency) ?? null), own)
      const least = leastReturn({ stake: limits.minStake, maxPayout: limits.maxPayout })
      const rtp_at_min_stake = least === null ? null : formatMultiplier(least)
      return [{ ...presentLimits(limits, currency), rtp_at_min_stake }]
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
