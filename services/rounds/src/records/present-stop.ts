import type { PlayerStop } from '@pitboss/contracts/objects/player-stop'
import { formatAmount } from '@pitboss/money/amount'
import { stopStatusAt } from '../rules/stop.ts'
import type { StopDocument } from '../storage/stops-store.ts'

/** The public record of a stop at `now`. Source: docs/contract.md, section 4, "Stops". */
export function presentStop(stop: StopDocument, now: Date): PlayerStop {
  const { lastBet } = stop
  return {
    stop_id: stop._id,
    status: stopStatusAt(stop, now),
    player_id: stop.playerId,
    environment: stop.environment,
    reason: stop.reason,
    from: stop.from.toISOString(),
    until: stop.until?.toISOString() ?? null,
    lifted_at: stop.liftedAt?.toISOString() ?? null,
    lift_reason: stop.liftReason,
    rounds_ended_at: stop.roundsEndedAt?.toISOString() ?? null,
    last_bet:
      lastBet === null
        ? null
        : {
            round_id: lastBet.roundId,
            session_id: lastBet.sessionId,
            game: lastBet.game,
            stake: formatAmount(BigInt(lastBet.stake), lastBet.currency),
            currency: lastBet.currency,
            at: lastBet.at.toISOString(),
          },
  }
}
