import type { JsonObject } from '@pitboss/fairness/games/game'
import type { RoundState, Stake } from './round.ts'

/** The seed of one nonce: sealed for us, and hashed for the player, who sees the hash before the round. */
export type Commitment = {
  readonly nonce: number
  readonly sealedSeed: string
  readonly serverSeedHash: string
}

/** The parts of a session that its rounds take over. */
type PlayedSession = {
  readonly _id: string
  readonly operatorId: string
  readonly environment: 'SANDBOX' | 'LIVE'
  readonly playerId: string
  readonly game: string
  readonly brandId: string | null
  readonly currency: string
  readonly expiresAt: Date
}

type NewRound = {
  readonly session: PlayedSession
  readonly driver: 'game' | 'operator'
  readonly gameId: string
  readonly commitment: Commitment
  readonly clientSeed: string | null
  readonly bet: JsonObject | null
  readonly stake: bigint
  readonly maxPayout: bigint
  readonly grantId: string | null
  readonly settleLosses: 'none' | 'zero_credit'
  readonly requestHash: string
  readonly clientTransactionId: string | null
  readonly now: Date
  readonly newId: (prefix: string) => string
  readonly newUuid: () => string
}

/** A round before anything has happened: PENDING, with its nonce, its seed and the id of its stake fixed. */
export function newRound({
  session,
  driver,
  gameId,
  commitment,
  clientSeed,
  bet,
  stake,
  maxPayout,
  grantId,
  settleLosses,
  requestHash,
  clientTransactionId,
  now,
  newId,
  newUuid,
}: NewRound): RoundState {
  const asked: Stake = {
    transactionId: clientTransactionId ?? newId('bet'),
    minor: stake,
    requestHash,
    state: 'ASKED',
    wasTaken: false,
    refusal: null,
  }
  return {
    id: newId('rnd'),
    operatorId: session.operatorId,
    environment: session.environment,
    playerId: session.playerId,
    game: session.game,
    sessionId: session._id,
    brandId: session.brandId,
    currency: session.currency,
    driver,
    status: 'PENDING',
    nonce: commitment.nonce,
    serverSeedHash: commitment.serverSeedHash,
    sealedSeed: commitment.sealedSeed,
    clientSeed,
    serverSeed: null,
    walletRoundId: newUuid(),
    walletGameId: gameId,
    bet,
    stake,
    maxPayout,
    freeBet: grantId !== null,
    grantId,
    grantReturn: null,
    settleLosses,
    requestHash,
    clientTransactionId,
    stakes: grantId === null ? [asked] : [],
    wins: [],
    reversals: [],
    rollbackTransactionId: newId('rbk'),
    actions: [],
    multiplier: null,
    progress: null,
    outcome: null,
    payout: null,
    endReason: null,
    finalAction: null,
    started: false,
    refusal: null,
    refusals: [],
    createdAt: now,
    lastActionAt: now,
    sittingEndsAt: session.expiresAt,
    updatedAt: now,
    completedAt: null,
    history: [{ at: now, what: 'intent stored: PENDING' }],
  }
}
