import { type CallHandler, type HandlerContext, handler } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/wallet'
import { placeMovement } from '../actions/place-movement.ts'
import { voidStake } from '../actions/place-reversal.ts'
import { findAnswered, listOfRound } from '../actions/read-movements.ts'
import type { Settlement } from '../context.ts'
import { toMovementAnswer, toMovementRecord } from '../records/render-movement.ts'

/** Kept of the caller's time for the way back, when it waits for a first try. */
const answerReserveMs = 750

export type MovementActions = ReturnType<typeof movementActions>

export function movementActions(settlement: Settlement) {
  return {
    place: placeMovement.bind(null, settlement),
    void: voidStake.bind(null, settlement),
    find: findAnswered.bind(null, settlement),
    ofRound: listOfRound.bind(null, settlement),
  }
}

/** The calls that rounds makes. */
export function movementCalls(actions: MovementActions): CallHandler[] {
  return [
    handler(calls.placeMovement, async ({ scope, ...order }, context) => {
      const { document, created } = await actions.place(scope, order, waitingContext(context))
      const { movement, outcome } = toMovementAnswer(document)
      return { movement, outcome, created }
    }),
    handler(calls.voidStake, async ({ scope, stake, rollbackTransactionId, askedAt: text }, context) => {
      const askedAt = text === undefined ? undefined : new Date(text)
      const asked = { stake, rollbackTransactionId, askedAt }
      const voided = await actions.void(scope, asked, waitingContext(context))
      const { movement, outcome } = toMovementAnswer(voided.stake)
      return {
        stake: movement,
        rollback: voided.rollback === null ? null : toMovementRecord(voided.rollback),
        outcome,
      }
    }),
    handler(calls.showMovement, async ({ scope, transactionId }) => {
      const found = await actions.find(scope, transactionId)
      if (found === null) return null
      const { document, answered } = found
      const { requestHash, driver } = document
      return { ...toMovementAnswer(document), requestHash, driver, answered }
    }),
    handler(calls.roundMovements, async ({ scope, roundId }) => {
      const found = await actions.ofRound(scope, roundId)
      return { data: found.map(toMovementAnswer) }
    }),
  ]
}

function waitingContext({ requestId, deadlineAtMs }: HandlerContext) {
  return { requestId, deadlineAtMs: deadlineAtMs - answerReserveMs }
}
