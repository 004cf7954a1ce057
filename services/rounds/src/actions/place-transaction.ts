import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import type { PlayContext } from '../context.ts'
import { judgeAmount } from '../rules/limits.ts'
import { findDeadAnswer, refuseForGood } from './dead-ids.ts'
import {
  answerRepeat,
  findEarlier,
  type MovementRequest,
  type PlacedTransaction,
} from './operator-movement.ts'
import { addStake, openOperatorRound } from './place-bet.ts'
import { addWin, reverse } from './settle-movement.ts'

/** Places a movement that the operator's server drives. Source: docs/contract.md, sections 5 and 11. */
export async function placeTransaction(
  context: PlayContext,
  caller: Caller,
  body: TransactionBody,
  call: HandlerContext,
): Promise<PlacedTransaction> {
  judgeAmount(body.amount, body.currency, 'amount')
  const { scope } = caller
  const request = { caller, body, call }
  const [answer, earlier] = await Promise.all([
    findDeadAnswer(context, scope, body),
    findEarlier(context, request),
  ])
  if (answer !== null) throw answer
  if (earlier !== null) return answerRepeat(context, earlier, request)
  try {
    return await place(context, request)
  } catch (error) {
    return answerRepeat(context, await refuseForGood(context, scope, body, error), request)
  }
}

function place(context: PlayContext, { caller, body, call }: MovementRequest): Promise<PlacedTransaction> {
  switch (body.type) {
    case 'BET':
      return body.round_id === undefined
        ? openOperatorRound(context, { caller, body, call })
        : addStake(context, { caller, body, call }, body.round_id)
    case 'WIN':
      return addWin(context, { caller, body, call })
    case 'REFUND':
    case 'ROLLBACK':
      return reverse(context, { caller, body, call })
  }
}
