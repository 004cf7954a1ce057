import type { JsonObject } from '@pitboss/fairness/games/game'
import type { RoundState, Stake } from './round.ts'

/** The seed of one nonce: sealed for us, and hashed for the player, who sees the hash before the round. */
export type Commitment = {
  readonly nonce: number
  readonly sealedSeed: string
  readonly serverSeedHash: string
}

/** The parts of a session that its rounds take over. */
type PlayedSession = Pick<
  RoundState,
  'operatorId' | 'environment' | 'playerId' | 'game' | 'brandId' | 'currency'
> & { readonly _id: string; readonly expiresAt: Date }

/** A round as its request asks for it. Amounts are minor units. */
export type WantedRound = {
  readonly session: PlayedSession
  readonly driver: 'game' | 'operator'
  readonly gameId: string
  readonly clientSeed: string | null
  readonly bet: JsonObject | null
  readonly stake: bigint
  readonly maxPayout: bigint
  readonly winsMax?: bigint
  readonly requestHash: string
  readonly clientTransactionId: string | null
}

type NewRound = WantedRound & {
  readonly commitment: Commitment
  readonly grantId: string | null
  readonly settleLosses: 'none' | 'zero_credit'
  readonly now: Date
  readonly newId: (prefix: string) => string
  readonly newUuid: () => string
}

/** A round before anything has happened: PENDING, with its nonce, its seed and the id of its stake fixed. */
export function newRound({
  session: { _id: sessionId, expiresAt, ...session },
  gameId: walletGameId,
  commitment: { nonce, serverSeedHash, sealedSeed },
  now,
  newId,
  newUuid,
  ...wanted
}: NewRound): RoundState {
  const { clientTransactionId, stake, requestHash, grantId } = wanted
  const { operatorId, environment, playerId, game, brandId, currency } = session
  const asked: Stake = {
    transactionId: clientTransactionId ?? newId('bet'),
    minor: stake,
    requestHash,
    state: 'ASKED',
    wasTaken: false,
    refusal: null,
  }
  return {
    ...wanted,
    ...{ operatorId, environment, playerId, game, brandId, currency, sessionId, walletGameId },
    ...{ nonce, serverSeedHash, sealedSeed },
    id: newId('rnd'),
    status: 'PENDING',
    serverSeed: null,
    walletRoundId: newUuid(),
    freeBet: grantId !== null,
    grantReturn: null,
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
    createdAt: now,
    lastActionAt: now,
    sittingEndsAt: expiresAt,
    updatedAt: now,
    completedAt: null,
    history: [{ at: now, what: 'intent stored: PENDING' }],
  }
}
