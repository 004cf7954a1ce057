import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { createFloorMovements } from '../harness/floor-movements.ts'
import { floorEvent } from '../harness/floor-relay.ts'
import type { Floor } from '../harness/serve-floor.ts'

/** Movements as rounds asks for them, done by the floor. */
export function moveOnFloor(floor: Floor): (spec: MovementSpec) => Promise<void> {
  const move = createFloorMovements(floor)
  return (spec) =>
    move({
      transactionId: spec.transactionId,
      roundId: spec.roundId,
      fields: spec,
      path: spec.type === 'BET' ? '/floor/debit' : '/floor/credit',
      bodyOf: (reference, at) => ({ ...callOf(spec), reference, occurredAt: at.toISOString() }),
      eventOf: (_movement, reference) => eventOf(spec, reference),
    })
}

function callOf(spec: MovementSpec) {
  const { transactionId, type, walletRoundId: roundId, walletGameId: gameId, game, sessionId } = spec
  const { playerId, currency, amount, freeBet, roundClosed } = spec
  const about = { roundId, gameId, game, sessionId, playerId }
  return { transactionId, type, ...about, currency, amount, freeBet, roundClosed }
}

function eventOf(
  { transactionId: transaction_id, type, amount, currency, roundId }: MovementSpec,
  reference: string,
) {
  const data = { transaction_id, reference, type, amount, currency, round_id: roundId }
  return floorEvent(type === 'BET' ? 'transaction.bet' : 'transaction.win', data)
}
