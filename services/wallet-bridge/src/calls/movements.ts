import { type CallHandler, type HandlerContext, handler } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/wallet'
import { placeMovement } from '../actions/place-movement.ts'
import { voidStake } from '../actions/place-reversal.ts'
import { findAnswered, listOfRound } from '../actions/read-movements.ts'
import type { Settlement } from '../context.ts'
import { toMovementAnswer, toMovementRecord } from '../records/render-movement.ts'

/** Kept of the caller's time for the way back, when it waits for a first try. */
const answerReserveMs = 750

/** What the calls do; a run that looks at answers puts its own in their place. */
export const movementActions = { placeMovement, voidStake, findAnswered, listOfRound }

/** The calls that rounds makes. */
export function movementCalls(settlement: Settlement, actions = movementActions): CallHandler[] {
  return [
    handler(calls.placeMovement, async ({ scope, ...order }, context) => {
      const placed = await actions.placeMovement(settlement, scope, order, waitingContext(context))
      return { ...toMovementAnswer(placed.document), created: placed.created }
    }),
    handler(calls.voidStake, async ({ scope, stake, rollbackTransactionId, askedAt: text }, context) => {
      const askedAt = text === undefined ? undefined : new Date(text)
      const asked = { stake, rollbackTransactionId, askedAt }
      const voided = await actions.voidStake(settlement, scope, asked, waitingContext(context))
      const { movement, ...standing } = toMovementAnswer(voided.stake)
      const rollback = voided.rollback === null ? null : toMovementRecord(voided.rollback)
      return { stake: movement, rollback, ...standing }
    }),
    handler(calls.showMovement, async ({ scope, transactionId }) => {
      const found = await actions.findAnswered(settlement, scope, transactionId)
      if (found === null) return null
      const { document, answered } = found
      const { requestHash, driver } = document
      return { ...toMovementAnswer(document), requestHash, driver, answered }
    }),
    handler(calls.roundMovements, async ({ scope, roundId }) => ({
      data: (await actions.listOfRound(settlement, scope, roundId)).map(toMovementAnswer),
    })),
  ]
}

function waitingContext({ requestId, deadlineAtMs }: HandlerContext) {
  return { requestId, deadlineAtMs: deadlineAtMs - answerReserveMs }
}
