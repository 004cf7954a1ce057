import { createHash } from 'node:crypto'
import { idCharacters } from '@pitboss/contracts/id-characters'
import type { RoundState, Stake } from './round.ts'

/** The seed of one nonce: sealed for us, and hashed for the player, who sees the hash before the round. */
export type Commitment = {
  readonly nonce: number
  readonly sealedSeed: string
  readonly serverSeedHash: string
}

type PlayedSession = Pick<
  RoundState,
  'operatorId' | 'environment' | 'playerId' | 'game' | 'brandId' | 'currency'
> & { readonly _id: string; readonly expiresAt: Date }

/** A round as its request asks for it. Amounts are minor units. */
export type WantedRound = Pick<
  RoundState,
  'driver' | 'clientSeed' | 'bet' | 'stake' | 'maxPayout' | 'winsMax' | 'requestHash' | 'clientTransactionId'
> & { readonly session: PlayedSession; readonly gameId: string }

type WantedIds = Pick<WantedRound, 'driver' | 'clientTransactionId'>

type NewRound = WantedRound &
  Pick<RoundState, 'grantId'> & {
    readonly commitment: Commitment
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
  const { stake, requestHash, grantId } = wanted
  const { operatorId, environment, playerId, game, brandId, currency } = session
  const id = newId('rnd')
  const transactionId = firstStakeId({ ...wanted, ...session }, id)
  const asked = askedStake({ transactionId, minor: stake, requestHash })
  return {
    ...wanted,
    ...{ operatorId, environment, playerId, game, brandId, currency, sessionId, walletGameId },
    ...{ nonce, serverSeedHash, sealedSeed },
    id,
    status: 'PENDING',
    settleLosses: 'none',
    walletRoundId: newUuid(),
    freeBet: grantId !== null,
    stakes: grantId === null ? [asked] : [],
    rollbackTransactionId: newId('rbk'),
    ...{ wins: [], reversals: [], actions: [], grantReturn: null, serverSeed: null, started: false },
    ...{ multiplier: null, progress: null, outcome: null, payout: null, endReason: null },
    ...{ finalAction: null, refusal: null, completedAt: null },
    ...{ createdAt: now, lastActionAt: now, updatedAt: now, sittingEndsAt: expiresAt },
    history: [{ at: now, what: 'intent stored: PENDING' }],
  }
}

export function askedStake(part: Pick<Stake, 'transactionId' | 'minor' | 'requestHash'>): Stake {
  return { ...part, state: 'ASKED', wasTaken: false, refusal: null }
}

const stakeIdCharacters = 26

/**
 * The id of a round's first stake, whose movement the wallet sees. The operator's server chooses its own. A
 * game round's follows from its sequence and its request's id: equal requests have one movement, even after
 * the first one's round ended, and no page chooses an id at the wallet. Source: docs/contract.md, section 4.
 * @param roundId in the place of an id that the page did not give
 */
function firstStakeId(round: Omit<PlayedSession, '_id' | 'expiresAt'> & WantedIds, roundId: string): string {
  const { driver, clientTransactionId, operatorId, environment, playerId, game } = round
  if (driver === 'operator' && clientTransactionId !== null) return clientTransactionId
  const [kind, id] = clientTransactionId === null ? ['round', roundId] : ['request', clientTransactionId]
  const fact = JSON.stringify([operatorId, environment, playerId, game, kind, id])
  return `bet_${idCharacters(createHash('sha256').update(fact).digest(), stakeIdCharacters)}`
}
