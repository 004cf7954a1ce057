import { type CallHandler, type HandlerContext, handler } from '@pitboss/bus/serve-calls'
import {
  placeMovement as placeCall,
  roundMovements as roundCall,
  showMovement as showCall,
  voidStake as voidCall,
} from '@pitboss/contracts/calls/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import type { PlaceContext, PlaceOrder } from '../actions/place-movement.ts'
import type { ReadMovements } from '../actions/read-movements.ts'
import type { Stored, Voided, VoidOrder } from '../actions/place-reversal.ts'
import { toMovementAnswer, toMovementRecord } from '../records/render-movement.ts'

/** Kept of the caller's time for the way back, when it waits for a first try. */
const answerReserveMs = 750

/** The calls that rounds makes. */
export function movementCalls({
  placeMovement,
  voidStake,
  readMovements,
}: {
  placeMovement: (scope: Scope, order: PlaceOrder, context: PlaceContext) => Promise<Stored>
  voidStake: (scope: Scope, order: VoidOrder, context: PlaceContext) => Promise<Voided>
  readMovements: ReadMovements
}): CallHandler[] {
  return [
    handler(placeCall, async ({ scope, ...order }, context) => {
      const { document, created } = await placeMovement(scope, order, waitingContext(context))
      const { movement, outcome } = toMovementAnswer(document)
      return { movement, outcome, created }
    }),
    handler(voidCall, async ({ scope, stake, rollbackTransactionId, askedAt: text }, context) => {
      const askedAt = text === undefined ? undefined : new Date(text)
      const asked = { stake, rollbackTransactionId, askedAt }
      const voided = await voidStake(scope, asked, waitingContext(context))
      const { movement, outcome } = toMovementAnswer(voided.stake)
      return {
        stake: movement,
        rollback: voided.rollback === null ? null : toMovementRecord(voided.rollback),
        outcome,
      }
    }),
    handler(showCall, async ({ scope, transactionId }) => {
      const found = await readMovements.find(scope, transactionId)
      if (found === null) return null
      const { document, answered } = found
      const { requestHash, driver } = document
      return { ...toMovementAnswer(document), requestHash, driver, answered }
    }),
    handler(roundCall, async ({ scope, roundId }) => {
      const found = await readMovements.ofRound(scope, roundId)
      return { data: found.map(toMovementAnswer) }
    }),
  ]
}

function waitingContext({ requestId, deadlineAtMs }: HandlerContext) {
  return { requestId, deadlineAtMs: deadlineAtMs - answerReserveMs }
}
