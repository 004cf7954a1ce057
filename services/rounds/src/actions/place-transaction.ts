import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { judgeAmount } from '../rules/read-amount.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { SessionsStore } from '../storage/sessions-store.ts'
import { type AddStakeDeps, createAddStake } from './add-stake.ts'
import type { GameAccess } from './game-access.ts'
import type { JoinMovement } from './join-movement.ts'
import { findSibling } from './open-intent.ts'
import { createOpenOperatorRound, type OpenOperatorRoundDeps } from './open-operator-round.ts'
import { createOperatorMovements, type PlacedTransaction, siblingRequest } from './operator-movement.ts'
import type { RoundActor } from './round-actor.ts'
import { createSettleMovement, type SettleMovementDeps } from './settle-movement.ts'

type PlaceTransactionDeps = AddStakeDeps &
  OpenOperatorRoundDeps &
  SettleMovementDeps & {
    rounds: Pick<RoundsStore, 'find' | 'last' | 'listByTransaction'>
    sessions: Pick<SessionsStore, 'find'>
    access: Pick<GameAccess, 'offered'>
    actor: RoundActor
    joinMovement: JoinMovement
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
  const { rounds, sessions, access, actor, joinMovement, clock } = deps
  const movements = createOperatorMovements({ rounds, sessions, access, actor, joinMovement, clock })
  const openOperatorRound = createOpenOperatorRound({ ...deps, movements })
  const addStake = createAddStake({ ...deps, movements })
  const { addWin, reverse } = createSettleMovement({ ...deps, movements })

  return async function placeTransaction(caller, body, context) {
    judgeAmount(body.amount, body.currency, 'amount')
    const earlier = await findSibling(rounds, siblingRequest(caller, body))
    if (earlier !== null) return movements.answerRepeat(earlier, body, context)
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
