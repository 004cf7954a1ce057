import { orderedBy } from '@pitboss/contracts/audit'
import type { opsResolveOwed } from '@pitboss/contracts/calls/rounds'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import type { PlayContext, RoundsContext } from '../context.ts'
import { type MovementOrder, reversalOrder, winSpec } from '../rules/movement.ts'
import type { RoundMessage } from '../rules/round-message.ts'
import type { RoundState } from '../rules/round.ts'
import { scopeOf } from '../storage/round-document.ts'
import { applyMessage, applyMovement } from './change-round.ts'
import { findAnyRound } from './read-rounds.ts'
import { settleRound } from './settle-round.ts'

type Order = z.output<typeof opsResolveOwed.request>

/**
 * Ends an owed movement by a person's word: asks wallet-bridge for it once more and, if it is refused for
 * good, ends it as the person says. Source: docs/runbook.md.
 * @returns the status of the round from then on
 * @throws ServiceError ROUND_NOT_FOUND; CONFLICT when the round does not owe it, or wallet-bridge has it:
 * then it is ended there
 */
export async function resolveOwed(
  context: RoundsContext & PlayContext,
  { order, roundId, transactionId, as }: Order,
  requestId: string,
): Promise<RoundState['status']> {
  const stored = await findAnyRound(context, roundId)
  const { round } = stored
  const owed = owedOf(round, transactionId)
  if (owed === null) throw conflict('The round owes no movement with this id.')
  if (order.dryRun) return round.status
  const placement = await context.wallet.place(scopeOf(round), owed.order)
  if (placement.kind === 'placed') {
    const { movement, outcome } = placement.placed
    await applyMovement(context, stored, movement, outcome)
    throw conflict('wallet-bridge has the movement; if it stays pending, end it there.')
  }
  if (placement.kind === 'unknown' || placement.error.retryable) throw placement.error
  await context.audit.store(
    context.audit.entry(orderedBy(order, round.operatorId, requestId), {
      act: 'round.resolve',
      object: { type: 'round', id: roundId },
      before: { status: round.status, transaction_id: transactionId, refused: placement.error.code },
      after: { as },
    }),
  )
  const ended = await applyMessage(context, stored, owed[as])
  return (await settleRound(context, ended, { recover: false })).round.status
}

function owedOf(
  round: RoundState,
  transactionId: string,
): { order: MovementOrder; success: RoundMessage; failed: RoundMessage } | null {
  const isOwed = (one: { transactionId: string; state: string }) =>
    one.transactionId === transactionId && one.state === 'OWED'
  const win = round.wins.find(isOwed)
  if (win !== undefined) {
    return {
      order: { spec: winSpec(round, win) },
      success: { type: 'win-paid', transactionId },
      failed: { type: 'win-failed', transactionId },
    }
  }
  const reversal = round.reversals.find(isOwed)
  if (reversal === undefined) return null
  return {
    order: reversalOrder(round, reversal),
    success: { type: 'reversal-done', transactionId },
    failed: { type: 'reversal-failed', transactionId },
  }
}

function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', { message })
}
