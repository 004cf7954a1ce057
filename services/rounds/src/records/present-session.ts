import type { SessionCreatedData } from '@pitboss/contracts/objects/event'
import type { Session } from '@pitboss/contracts/objects/session'
import { formatAmount } from '@pitboss/money/amount'
import { sessionStatusAt } from '../rules/live-rules.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'

/** The public record of a session at `now`. Source: docs/contract.md, section 4. */
export function presentSession(session: SessionDocument, now: Date): Session {
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

export function sessionCreatedData(
  session: Pick<SessionDocument, '_id' | 'game' | 'playerId' | 'currency' | 'brandId' | 'expiresAt'>,
): SessionCreatedData {
  return {
    session_id: session._id,
    game: session.game,
    player_id: session.playerId,
    currency: session.currency,
    brand: session.brandId,
    expires_at: session.expiresAt.toISOString(),
  }
}
