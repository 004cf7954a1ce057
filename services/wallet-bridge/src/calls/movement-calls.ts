import {
  placeMovement as placeCall,
  roundMovements as roundCall,
  showMovement as showCall,
  voidStake as voidCall,
} from '@pitboss/contracts/calls/wallet'
import { type CallHandler, type HandlerContext, handler } from '@pitboss/bus/serve-calls'
import { outcomeOf } from '../rules/movement-outcome.ts'
import { hasAnswer } from '../actions/await-first-try.ts'
import type { PlaceMovement } from '../actions/place-movement.ts'
import { toMovementRecord } from '../records/render-movement.ts'
import type { VoidStake } from '../actions/void-stake.ts'
import type { MovementStore } from '../storage/movements.ts'

/** What is left for the way back when a caller waits for a first try. */
const answerReserveMs = 750
const roundMovementsMax = 500

/** The calls that rounds makes. */
export function movementCalls({
  placeMovement,
  voidStake,
  movements,
}: {
  placeMovement: PlaceMovement
  voidStake: VoidStake
  movements: MovementStore
}): CallHandler[] {
  return [
    handler(placeCall, async ({ scope, ...order }, context) => {
      const { document, created } = await placeMovement(scope, order, waitingContext(context))
      return { movement: toMovementRecord(document), outcome: outcomeOf(document), created }
    }),
    handler(voidCall, async ({ scope, stake, rollbackTransactionId }, context) => {
      const voided = await voidStake(scope, { stake, rollbackTransactionId }, waitingContext(context))
      return {
        stake: toMovementRecord(voided.stake),
        rollback: voided.rollback === null ? null : toMovementRecord(voided.rollback),
        outcome: outcomeOf(voided.stake),
      }
    }),
    handler(showCall, async ({ scope, transactionId }) => {
      const document = await movements.find(scope, transactionId)
      if (document === null) return null
      const { requestHash, driver } = document
      const answered = hasAnswer(document)
      return {
        movement: toMovementRecord(document),
        outcome: outcomeOf(document),
        requestHash,
        driver,
        answered,
      }
    }),
    handler(roundCall, async ({ scope, roundId }) => {
      const found = await movements.ofRound(scope, roundId, roundMovementsMax)
      return {
        data: found.map((document) => ({
          movement: toMovementRecord(document),
          outcome: outcomeOf(document),
        })),
      }
    }),
  ]
}

function waitingContext({ requestId, deadlineAtMs }: HandlerContext) {
  return { requestId, deadlineAtMs: deadlineAtMs - answerReserveMs }
}
