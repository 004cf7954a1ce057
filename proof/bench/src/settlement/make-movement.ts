import { randomUUID } from 'node:crypto'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { newId } from '@pitboss/runtime/new-id'

/** Fields that the movements of one round share. */
export type MovedRound = { roundId: string; walletRoundId: string; sessionId: string; playerId: string }

const walletGameId = 'f1000000-0000-4000-8000-000000000001'
const amounts = { BET: '1.00', WIN: '1.98' } as const
const digits = 64

export function newRound(playerId: string): MovedRound {
  return { roundId: newId('rnd'), walletRoundId: randomUUID(), sessionId: newId('ses'), playerId }
}

/** A new movement of the round, as rounds asks for it: one unit is staked, the win ends the round. */
export function makeMovement(type: 'BET' | 'WIN', round: MovedRound): MovementSpec {
  return {
    ...round,
    transactionId: newId(type === 'BET' ? 'bet' : 'win'),
    type,
    amount: amounts[type],
    currency: 'USD',
    walletGameId,
    game: 'dice',
    brandId: null,
    freeBet: false,
    roundClosed: type === 'WIN',
    driver: 'game',
    referenceTransactionId: null,
    callWallet: null,
    requestHash: '0'.repeat(digits),
  }
}

/**
 * Callers who stake and win by turns, each on rounds of its own; a movement that failed is not followed by
 * its win.
 */
export function byTurns(move: (movement: MovementSpec) => Promise<void>): (caller: number) => Promise<void> {
  const staked = new Map<number, MovedRound>()
  return async (caller) => {
    const round = staked.get(caller)
    staked.delete(caller)
    if (round !== undefined) return move(makeMovement('WIN', round))
    const begun = newRound(`player-${caller}`)
    await move(makeMovement('BET', begun))
    staked.set(caller, begun)
  }
}
