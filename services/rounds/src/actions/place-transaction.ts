import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { judgeAmount } from '../rules/limits.ts'
import { type AwaitStakesDeps, createAwaitStakes } from './await-stakes.ts'
import { createOperatorMovements, type PlacedTransaction } from './operator-movement.ts'
import type { Parts } from './parts.ts'
import { createAddStake, createOpenOperatorRound, type PlaceBetDeps } from './place-bet.ts'
import { createSettleMovement } from './settle-movement.ts'
import { showFirst } from './show-first.ts'

type PlaceTransactionDeps = PlaceBetDeps &
  AwaitStakesDeps &
  Pick<Parts, 'access' | 'deadIds' | 'joinMovement' | 'noteConflict' | 'admitPlay'> & {
    sessions: Pick<Parts['sessions'], 'find'>
  }

export type PlaceTransaction = (
  caller: Caller,
  body: TransactionBody,
  context: HandlerContext,
) => Promise<PlacedTransaction>

/**
 * Places a movement of a round that the operator's own server drives, or answers the repeat of one.
 * `POST /v1/transactions`. Source: docs/contract.md, sections 5 and 11.
 */
export function createPlaceTransaction(deps: PlaceTransactionDeps): PlaceTransaction {
  const { deadIds } = deps
  const movements = createOperatorMovements(deps)
  const withMovements = { ...deps, movements, awaitStakes: createAwaitStakes(deps) }
  const openOperatorRound = createOpenOperatorRound(withMovements)
  const addStake = createAddStake(withMovements)
  const { addWin, reverse } = createSettleMovement(withMovements)

  return (caller, body, context) =>
    showFirst(
      deps.rounds,
      ({ body: { round_id: roundId } }) => roundId,
      () => placeTransaction(caller, body, context),
    )

  async function placeTransaction(
    caller: Caller,
    body: TransactionBody,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    judgeAmount(body.amount, body.currency, 'amount')
    const { scope } = caller
    const [answer, earlier] = await Promise.all([
      deadIds.answerTo(scope, body),
      movements.findEarlier(caller, body),
    ])
    if (answer !== null) throw answer
    if (earlier !== null) return movements.answerRepeat(earlier, body, context)
    try {
      return await place(caller, body, context)
    } catch (error) {
      return movements.answerRepeat(await deadIds.refuse(scope, body, error), body, context)
    }
  }

  function place(caller: Caller, body: TransactionBody, context: HandlerContext): Promise<PlacedTransaction> {
    switch (body.type) {
      case 'BET':
        return body.round_id === undefined
          ? openOperatorRound(caller, body, context)
          : addStake(caller, body, body.round_id, context)
      case 'WIN':
        return addWin(caller, body, context)
      case 'REFUND':
      case 'ROLLBACK':
        return reverse(caller, body, context)
    }
  }
}
