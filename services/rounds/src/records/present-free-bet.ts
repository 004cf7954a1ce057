import type { FreeBet } from '@pitboss/contracts/objects/game'
import { formatAmount } from '@pitboss/money/amount'
import type { GrantDocument } from '../storage/grants-store.ts'

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

export function presentUsableFreeBet(
  grant: Pick<GrantDocument, '_id' | 'remaining' | 'stake' | 'currency' | 'expiresAt'>,
) {
  return {
    grant_id: grant._id,
    remaining: grant.remaining,
    stake: formatAmount(BigInt(grant.stake), grant.currency),
    expires_at: grant.expiresAt?.toISOString() ?? null,
  }
}

/** The status of a grant at `now`: CANCELLED stays, the others follow from the count and the clock. */
export function grantStatusAt(
  grant: Pick<GrantDocument, 'remaining' | 'expiresAt' | 'cancelledAt'>,
  now: Date,
): 'ACTIVE' | 'EXHAUSTED' | 'EXPIRED' | 'CANCELLED' {
  if (grant.cancelledAt !== null) return 'CANCELLED'
  if (grant.remaining <= 0) return 'EXHAUSTED'
  return grant.expiresAt !== null && now >= grant.expiresAt ? 'EXPIRED' : 'ACTIVE'
}
