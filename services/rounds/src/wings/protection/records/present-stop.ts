import type { PlayerStop, StopRecord } from '@pitboss/contracts/objects/player-stop'
import { formatAmount } from '@pitboss/money/amount'
import { type LastBet, stopStatusAt } from '../rules/stop.ts'
import type { StopDocument } from '../storage/stops-store.ts'

/** The public record of a stop at `now`. Source: docs/contract.md, section 4, "Stops". */
export function presentStop(stop: StopDocument, now: Date): PlayerStop {
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
    last_bet: presentLastBet(stop.lastBet),
    record: stop.record?.jws ?? null,
  }
}

/** The text of a stop's record, to be signed. @throws Error while its rounds have not ended */
export function stopRecordText(stop: StopDocument): string {
  if (stop.roundsEndedAt === null) throw new Error(`rounds of ${stop._id} have not ended`)
  const record: StopRecord = {
    stop_id: stop._id,
    operator_id: stop.operatorId,
    environment: stop.environment,
    player_id: stop.playerId,
    reason: stop.reason,
    from: stop.from.toISOString(),
    until: stop.until?.toISOString() ?? null,
    lifted_at: stop.liftedAt?.toISOString() ?? null,
    rounds_ended_at: stop.roundsEndedAt.toISOString(),
    last_bet: presentLastBet(stop.lastBet),
  }
  return JSON.stringify(record)
}

function presentLastBet(lastBet: LastBet | null): PlayerStop['last_bet'] {
  if (lastBet === null) return null
  return {
    round_id: lastBet.roundId,
    session_id: lastBet.sessionId,
    game: lastBet.game,
    stake: formatAmount(BigInt(lastBet.stake), lastBet.currency),
    currency: lastBet.currency,
    at: lastBet.at.toISOString(),
  }
}
