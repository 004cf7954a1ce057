import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { transactionHash } from '../rules/movement.ts'
import type { RoundState, Stake } from '../rules/round.ts'
import { sequenceKey, type StoredRound } from '../storage/round-document.ts'
import type { LastNonce } from '../storage/round-streams.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import { createMakeRound, type Plan } from './open-intent.ts'
import {
  answerOf,
  type BetBody,
  type OperatorMovements,
  ownMovement,
  type PlacedTransaction,
} from './operator-movement.ts'
import type { Parts } from './parts.ts'

export type PlaceBetDeps = Pick<
  Parts,
  | 'rounds'
  | 'commitments'
  | 'wallet'
  | 'actor'
  | 'intents'
  | 'placeStake'
  | 'clock'
  | 'newId'
  | 'newUuid'
  | 'holdLimits'
>

/** Creates the opening of a round by a BET of the operator's own server that names no round. */
export function createOpenOperatorRound({
  rounds,
  intents,
  placeStake,
  holdLimits,
  movements,
  ...parts
}: PlaceBetDeps & { movements: OperatorMovements }) {
  const makeRound = createMakeRound(parts)
  return async function openOperatorRound(
    caller: Caller,
    body: BetBody,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const { scope } = caller
    const session = await movements.findSession(caller, body)
    const sequence = sequenceKey(scope, session.game, session.playerId)
    const requestHash = transactionHash(body, { currency: session.currency })
    const request = {
      sequence,
      findEarlier: () => movements.findFirst(caller, body),
      isOwn: (round: RoundState) => ownMovement(round, body) !== null,
    }

    async function plan(): Promise<Plan> {
      const { entry, amount, limits } = await movements.checkStake(caller, body, session)
      const wanted = {
        session,
        driver: 'operator',
        gameId: entry.gameId,
        clientSeed: null,
        bet: null,
        stake: amount,
        maxPayout: limits.maxPayout,
        ...(limits.winsMax === null ? {} : { winsMax: limits.winsMax }),
        requestHash,
        clientTransactionId: body.transaction_id,
      } as const
      const make = (last: LastNonce) =>
        makeRound({ scope, sequence, last }, wanted, context, async () => null)
      return { last: await rounds.last(sequence), make }
    }

    const { kind, stored } = await intents.openIntent(request, plan, context)
    if (kind === 'repeat') return movements.answerRepeat(stored, body, context)
    const hold = holdLimits(scope, session)
    const stake = await placeStake(stored, body.transaction_id, context, hold).catch(
      async (error: unknown) => {
        // Lists show a round whose stake is refused, since its nonce is used.
        await rounds.show(stored.round.id)
        throw error
      },
    )
    if (stake.kind === 'taken-back') throw stake.error
    return answerOf(stake.placed)
  }
}

/** Creates the further stake of an open round, by a BET of the operator's own server that names the round. */
export function createAddStake({
  wallet,
  placeStake,
  holdLimits,
  movements,
}: PlaceBetDeps & { movements: OperatorMovements }) {
  return async function addStake(
    caller: Caller,
    body: BetBody,
    roundId: string,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const { stored, amount, session } = await check(caller, body, roundId, context)
    const stake: Stake = {
      transactionId: body.transaction_id,
      minor: amount,
      requestHash: transactionHash(body, stored.round),
      state: 'ASKED',
      wasTaken: false,
      refusal: null,
    }
    const message = { type: 'add-stake', stake } as const
    const intended = await movements.intend(stored, body, context, message)
    if ('status' in intended) return intended
    const { scope } = caller
    const hold = holdLimits(scope, session)
    const placed = await placeStake(intended, body.transaction_id, context, hold)
    if (placed.kind === 'taken-back') throw placed.error
    return answerOf(placed.placed)
  }

  /** Makes the checks before the intent; the rules of the round refuse the rest. */
  async function check(
    caller: Caller,
    body: BetBody,
    roundId: string,
    context: HandlerContext,
  ): Promise<{ stored: StoredRound; amount: bigint; session: SessionDocument }> {
    const session = await movements.findSession(caller, body)
    const { amount } = await movements.checkStake(caller, body, session)
    const stored = await movements.findDriven(caller, roundId)
    const { round } = stored
    if (round.playerId !== session.playerId || round.game !== session.game) {
      throw invalidField('round_id', "is a round of another player or game than the session's")
    }
    if (round.currency !== session.currency) throw new ServiceError('CURRENCY_MISMATCH')
    await wallet.assertConfigured(caller.scope, context)
    return { stored, amount, session }
  }
}
