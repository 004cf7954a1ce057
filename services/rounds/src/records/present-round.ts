import type { Round } from '@pitboss/contracts/objects/round'
import type { RoundCompletedData, RoundStartedData } from '@pitboss/contracts/objects/event'
import { formatAmount } from '@pitboss/money/amount'
import { eventIdOf } from '@pitboss/storage/event-id'
import { type RenderedEvent, renderEvent } from '@pitboss/storage/rendered-event'
import type { Commitment } from '../rules/new-round.ts'
import type { EventType } from '../rules/round-message.ts'
import type { RoundState } from '../rules/round.ts'

/** The bytes of a presented round without its outcome, roughly. */
const usualBytes = 2000

/** Shows the outcome from SETTLING on, the seed at the end. Source: docs/contract.md, section 4. */
export function presentRound(round: RoundState): Round {
  const { progress } = round
  return {
    round_id: round.id,
    session_id: round.sessionId,
    client_transaction_id: round.driver === 'game' ? round.clientTransactionId : null,
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
    progress: progress && {
      tiles_opened: [...progress.tilesOpened],
      next_multiplier: progress.nextMultiplier,
    },
    fairness: { ...commitmentOf(round), server_seed: round.serverSeed },
    wallet_round_id: round.walletRoundId,
    wallet_game_id: round.walletGameId,
    driver: round.driver,
    environment: round.environment,
    created_at: round.createdAt.toISOString(),
    completed_at: round.completedAt?.toISOString() ?? null,
    end_reason: round.status === 'PENDING' || round.status === 'OPEN' ? null : round.endReason,
  }
}

function roundStartedData(round: RoundState): RoundStartedData {
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
    fairness: commitmentOf(round),
  }
}

function roundCompletedData(round: RoundState): RoundCompletedData {
  return {
    ...roundStartedData(round),
    payout: formatAmount(round.payout ?? 0n, round.currency),
    bet: round.bet === null ? null : { ...round.bet },
    outcome: shownOutcome(round),
    fairness: { ...commitmentOf(round), server_seed: round.serverSeed },
    status: round.status === 'SETTLED' ? 'SETTLED' : 'VOIDED',
    multiplier: round.multiplier,
    end_reason: round.endReason,
    driver: round.driver,
  }
}

type FairnessEntry = {
  readonly commitment: Pick<Commitment, 'nonce' | 'serverSeedHash'>
  readonly round: RoundState | null
}

/** A line of the fairness book: the commitment of a nonce, and the reveal and the end of its round. */
export function presentFairness({ commitment, round }: FairnessEntry) {
  return {
    nonce: commitment.nonce,
    server_seed_hash: commitment.serverSeedHash,
    client_seed: round?.clientSeed ?? null,
    server_seed: round?.serverSeed ?? null,
    round_id: round?.id ?? null,
    status: round?.status ?? null,
  }
}

export function roundEvents(round: RoundState, types: readonly EventType[], createdAt = round.updatedAt) {
  const { operatorId, environment, id } = round
  const scope = { operatorId, environment }
  return types.map((type) =>
    renderEvent({
      id: eventIdOf(scope, { type, about: id }),
      type,
      createdAt,
      scope,
      data: type === 'round.started' ? roundStartedData(round) : roundCompletedData(round),
    }),
  )
}

/** The event of the round's end, equal to the one written with it; null before it, or if it never started. */
export function endEvent(round: RoundState): RenderedEvent | null {
  const { completedAt, started } = round
  if (completedAt === null || !started) return null
  return roundEvents(round, ['round.completed'], completedAt)[0] ?? null
}

export function roundEndedLine(round: RoundState, by: string) {
  return {
    round_id: round.id,
    operator_id: round.operatorId,
    environment: round.environment,
    game: round.game,
    status: round.status,
    by,
    end_reason: round.endReason,
    duration_ms: round.updatedAt.getTime() - round.createdAt.getTime(),
  }
}

function commitmentOf(round: RoundState) {
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

/** The bytes of a presented round, roughly: an operator's own outcome may have tens of thousands. */
export function roundBytes({ outcome }: Pick<RoundState, 'outcome'>): number {
  return usualBytes + (outcome === null ? 0 : Buffer.byteLength(JSON.stringify(outcome)))
}
