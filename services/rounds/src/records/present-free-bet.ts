import type { FreeBet } from '@pitboss/contracts/objects/game'
import { formatAmount } from '@pitboss/money/amount'
import { grantStatusAt } from '../rules/grant-status.ts'
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
    environment: grant.environment,
    created_at: grant.createdAt.toISOString(),
    expires_at: grant.expiresAt?.toISOString() ?? null,
    cancelled_at: grant.cancelledAt?.toISOString() ?? null,
  }
}

/** The parts of a grant that its player sees. */
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
