import { orderedBy } from '@pitboss/contracts/audit'
import type { opsEndRoundAsTold } from '@pitboss/contracts/calls/rounds'
import { ServiceError } from '@pitboss/errors/service-error'
import { parseAmount } from '@pitboss/money/amount'
import type { z } from 'zod'
import type { PlayContext, RoundsContext } from '../context.ts'
import { endEvent } from '../records/present-round.ts'
import { isUnfinished, type RoundState } from '../rules/round.ts'
import { applyMessage, refreshAll } from './change-round.ts'
import { findAnyRound } from './read-rounds.ts'
import { settleRound } from './settle-round.ts'

type Told = z.output<typeof opsEndRoundAsTold.request>

/**
 * Ends a round that had ended and is open again, because the database of rounds was restored to an earlier
 * moment, as its event says: its player knows what the seed gives. A stake that has gone back is learned
 * from wallet-bridge; an outcome is drawn once more from the round's own seed and must give the same.
 * Source: docs/runbook.md.
 * @returns the status from then on; PENDING while the stake is still settled
 * @throws ServiceError ROUND_NOT_FOUND; CONFLICT when the operator drives the round, or it ends otherwise
 */
export async function endAsTold(
  context: RoundsContext & PlayContext,
  { order, roundId, end }: Told,
  requestId: string,
): Promise<RoundState['status']> {
  const stored = await findAnyRound(context, roundId)
  const { round } = stored
  if (round.driver === 'operator') {
    throw new ServiceError('CONFLICT', { message: "The operator's server ends this round." })
  }
  if (!isUnfinished(round)) return round.status
  const play = end.status === 'VOIDED' ? null : playOf(context, round, end)
  if (order.dryRun) return round.status
  await context.audit.store(
    context.audit.entry(orderedBy(order, round.operatorId, requestId), {
      act: 'round.heal',
      object: { type: 'round', id: roundId },
      before: { status: round.status, tiles_opened: [...round.actions] },
      after: end,
    }),
  )
  const learnsReason = play === null && end.end_reason !== null
  const reason = { type: 'learn-end-reason', endReason: end.end_reason ?? '' } as const
  const known = learnsReason ? await applyMessage(context, stored, reason) : stored
  // An open round that was abandoned gives its stake back itself: a review would end it as returned.
  const isAbandoned = play === null && end.end_reason === 'abandoned' && known.round.status === 'OPEN'
  const current = isAbandoned ? known : await refreshAll(context, known)
  if (current.round.status === 'PENDING') return 'PENDING'
  const ended = await applyMessage(context, current, { type: 'end-as-told', play, endReason: end.end_reason })
  return (await settleRound(context, ended, { recover: false })).round.status
}

function playOf(
  { catalogue }: PlayContext,
  { game, currency }: RoundState,
  { outcome, payout }: Told['end'],
) {
  const read = catalogue.find(game)?.game.readOutcome(outcome)
  if (read === null || read === undefined) {
    throw new ServiceError('CONFLICT', { message: 'This is no outcome of the game.' })
  }
  return { actions: read.actions, payout: parseAmount(payout, currency) }
}

/**
 * Publishes the event of a round's end once more; its id follows from the round. Source: docs/runbook.md.
 * @returns its id; null for a round that has not ended or never started. @throws ServiceError ROUND_NOT_FOUND
 */
export async function republishEnd(
  context: RoundsContext,
  roundId: string,
  dryRun: boolean,
): Promise<string | null> {
  const stored = await findAnyRound(context, roundId)
  const event = endEvent(stored.round)
  if (event !== null && !dryRun) await context.rounds.publishAgain(stored, event)
  return event?.id ?? null
}
