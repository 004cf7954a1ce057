import type { Round } from '@pitboss/contracts/objects/round'
import type { RoundCompletedData, RoundStartedData } from '@pitboss/contracts/events/event-data'
import { formatAmount } from '@pitboss/money/amount'
import type { RoundState } from '../rules/round.ts'

const usualBytes = 2000

/** The public record of a round. The outcome is shown from SETTLING on, the seed of a terminal round. Contract section 4. */
export function presentRound(round: RoundState): Round {
  return {
    round_id: round.id,
    session_id: round.sessionId,
    player_id: round.playerId,
    game: round.game,
    status: round.status,
    stake: formatAmount(round.stake, round.currency),
    payout: round.payout === null ? null : formatAmount(round.payout, round.currency),
    currency: round.currency,
    free_bet: round.freeBet,
    bet: round.bet === null ? null : { ...round.bet },
    multiplier: round.multiplier,
    outcome: shownOutcome(round),
    progress:
      round.progress === null
        ? null
        : {
            tiles_opened: [...round.progress.tilesOpened],
            next_multiplier: round.progress.nextMultiplier,
          },
    fairness: { ...commitment(round), server_seed: round.serverSeed },
    wallet_round_id: round.walletRoundId,
    wallet_game_id: round.walletGameId,
    driver: round.driver,
    environment: round.environment,
    created_at: round.createdAt.toISOString(),
    completed_at: round.completedAt?.toISOString() ?? null,
    end_reason: round.completedAt === null && round.status === 'OPEN' ? null : round.endReason,
  }
}

/** `data` of `round.started`. Contract section 7. */
export function roundStartedData(round: RoundState): RoundStartedData {
  return {
    round_id: round.id,
    game: round.game,
    wallet_round_id: round.walletRoundId,
    wallet_game_id: round.walletGameId,
    player_id: round.playerId,
    session_id: round.sessionId,
    stake: formatAmount(round.stake, round.currency),
    currency: round.currency,
    free_bet: round.freeBet,
    fairness: commitment(round),
  }
}

/** `data` of `round.completed`; everything that its verification needs. Interface specification, "Resources". */
export function roundCompletedData(round: RoundState): RoundCompletedData {
  return {
    round_id: round.id,
    game: round.game,
    wallet_round_id: round.walletRoundId,
    wallet_game_id: round.walletGameId,
    player_id: round.playerId,
    session_id: round.sessionId,
    stake: formatAmount(round.stake, round.currency),
    payout: formatAmount(round.payout ?? 0n, round.currency),
    currency: round.currency,
    free_bet: round.freeBet,
    bet: round.bet === null ? null : { ...round.bet },
    outcome: shownOutcome(round),
    fairness: { ...commitment(round), server_seed: round.serverSeed },
    status: round.status === 'SETTLED' ? 'SETTLED' : 'VOIDED',
    multiplier: round.multiplier,
    end_reason: round.endReason,
    driver: round.driver,
  }
}

function commitment(round: RoundState) {
  return {
    algorithm: 'fair-v1' as const,
    server_seed_hash: round.serverSeedHash,
    client_seed: round.clientSeed,
    nonce: round.nonce,
  }
}

function shownOutcome({ status, outcome }: RoundState): Record<string, unknown> | null {
  return outcome !== null && (status === 'SETTLING' || status === 'SETTLED') ? { ...outcome } : null
}

/** About how many bytes a presented round takes: an operator's own outcome may have tens of thousands. */
export function roundBytes({ outcome }: Pick<RoundState, 'outcome'>): number {
  return usualBytes + (outcome === null ? 0 : Buffer.byteLength(JSON.stringify(outcome)))
}
