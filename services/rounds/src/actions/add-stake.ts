import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { WalletClient } from '../clients/wallet.ts'
import { receivedAt } from '../rules/received-at.ts'
import type { Stake } from '../rules/round.ts'
import { transactionHash } from '../rules/transaction-hash.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import {
  answerOf,
  type BetBody,
  type OperatorMovements,
  type PlacedTransaction,
} from './operator-movement.ts'
import type { PlaceStake } from './place-stake.ts'
import type { RoundActor } from './round-actor.ts'

export type AddStakeDeps = {
  rounds: Pick<RoundsStore, 'find'>
  wallet: Pick<WalletClient, 'assertConfigured'>
  actor: Pick<RoundActor, 'keepRefusal'>
  placeStake: PlaceStake
}

/** Creates the further stake of an open round, by a BET of the operator's own server that names the round. */
export function createAddStake({
  rounds,
  wallet,
  actor,
  placeStake,
  movements,
}: AddStakeDeps & { movements: OperatorMovements }) {
  return async function addStake(
    caller: Caller,
    body: BetBody,
    roundId: string,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const checked = await check(caller, body, roundId, context).catch((error: unknown) =>
      refuse(error, caller, body, roundId, context),
    )
    if ('status' in checked) return checked
    const { stored, amount } = checked
    const stake: Stake = {
      transactionId: body.transaction_id,
      minor: amount,
      requestHash: transactionHash(body, stored.round),
      state: 'ASKED',
      wasTaken: false,
      refusal: null,
    }
    const message = { type: 'add-stake', stake, receivedAt: receivedAt(context) } as const
    const intended = await movements.intend(stored, body, context, message)
    if ('status' in intended) return intended
    const placed = await placeStake(intended, body.transaction_id, context)
    if (placed.kind === 'taken-back') throw placed.error
    return answerOf(placed.placed)
  }

  /** Makes the checks before the intent; the rules of the round refuse the rest. */
  async function check(
    caller: Caller,
    body: BetBody,
    roundId: string,
    context: HandlerContext,
  ): Promise<{ stored: StoredRound; amount: bigint }> {
    const session = await movements.findSession(caller, body)
    const { amount } = await movements.checkStake(caller, body, session)
    const stored = await movements.findDriven(caller, roundId)
    const { round } = stored
    if (round.playerId !== session.playerId || round.game !== session.game) {
      throw invalidField('round_id', "is a round of another player or game than the session's")
    }
    if (round.currency !== session.currency) throw new ServiceError('CURRENCY_MISMATCH')
    await wallet.assertConfigured(caller.scope, context)
    return { stored, amount }
  }

  /**
   * Keeps the refusal with the round that the stake was for, so that no equal request which is still under
   * way is accepted. If one has been accepted before, this is its repeat.
   * @throws `error`
   */
  async function refuse(
    error: unknown,
    caller: Caller,
    body: BetBody,
    roundId: string,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const stored = await rounds.find(caller.scope, roundId)
    if (stored === null || stored.round.driver !== 'operator') throw error
    const request = {
      transactionId: body.transaction_id,
      requestHash: transactionHash(body, stored.round),
      receivedAt: receivedAt(context),
    }
    return movements.answerRepeat(await actor.keepRefusal(stored, error, request), body, context)
  }
}
