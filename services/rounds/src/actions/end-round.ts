import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { orderedBy } from '@pitboss/contracts/audit'
import type { RequestOf } from '@pitboss/contracts/call'
import { type Caller, scopeOf } from '@pitboss/contracts/caller'
import type { opsEndRoundAsTold, opsResolveOwed } from '@pitboss/contracts/calls/rounds'
import { conflict, ServiceError, tryAgain } from '@pitboss/errors/service-error'
import { parseAmount } from '@pitboss/money/amount'
import type { PlayContext, RoundsContext } from '../context.ts'
import { endEvent } from '../records/present-round.ts'
import { graceMs } from '../rules/due-at.ts'
import { resourceOf, reversalOrder, unknownOutcome, winSpec } from '../rules/movement.ts'
import { isUnfinished, type RoundState } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import { applyMessage, applyMovement, refreshAll } from './change-round.ts'
import { findAnyRound, findRound } from './read-rounds.ts'
import { settleRound, voidStake } from './settle-round.ts'

const claimTriesMax = 10

/**
 * Voids a round whose stake was never taken for certain; it is PENDING until the wallet acknowledges the
 * rollback. A stake that was taken or refused decides the round instead. Source: docs/contract.md, section 4.
 * @throws ServiceError ROUND_NOT_FOUND, ROUND_IN_PROGRESS, ROUND_ALREADY_SETTLED
 */
export async function voidRound(context: PlayContext, caller: Caller, roundId: string, call: HandlerContext) {
  const stored = await claimPending(context, caller, roundId)
  const [stake] = stored.round.stakes
  const tried =
    stake?.state === 'ASKED'
      ? await voidStake(context, stored, stake.transactionId, call).catch((error: unknown) => {
          if (call.atOnce !== true || !(error instanceof ServiceError)) throw error
          throw unknownOutcome(resourceOf(stored.round, stake.transactionId), error)
        })
      : await settleRound(context, stored, { recover: false, call })
  const { round } = tried
  if (round.status === 'VOIDED' || round.status === 'PENDING') return round
  await settleRound(context, tried, { recover: false, call })
  throw notPending(round)
}

/** Claims the round, so that the request of its stake does not take the intent back at the same time. */
async function claimPending(context: PlayContext, caller: Caller, roundId: string): Promise<StoredRound> {
  for (let tries = 1; tries <= claimTriesMax; tries++) {
    const stored = await findRound(context, caller, roundId)
    if (stored.round.status !== 'PENDING') throw notPending(stored.round)
    const claimed = await context.rounds.claim(stored, new Date(context.clock.now().getTime() + graceMs))
    if (claimed !== null) return claimed
  }
  throw tryAgain()
}

function notPending({ status }: RoundState): ServiceError {
  const plays = status === 'OPEN' || status === 'SETTLING'
  return new ServiceError(plays ? 'ROUND_IN_PROGRESS' : 'ROUND_ALREADY_SETTLED')
}

type Order = RequestOf<typeof opsResolveOwed>

/**
 * Ends an owed movement by a person's word, once wallet-bridge has refused it for good again. Source:
 * docs/runbook.md. @returns the round's status. @throws ServiceError ROUND_NOT_FOUND; CONFLICT when the round
 * does not owe it, or wallet-bridge has it: then it is ended there
 */
export async function resolveOwed(context: RoundsContext & PlayContext, asked: Order, requestId: string) {
  const { order, roundId, transactionId, as } = asked
  const stored = await findAnyRound(context, roundId)
  const { round } = stored
  const owed = owedOf(round, transactionId, as)
  if (owed === null) throw conflict('The round owes no movement with this id.')
  if (order.dryRun) return round.status
  const placement = await context.wallet.place(scopeOf(round), owed.order)
  if (placement.kind === 'placed') {
    await applyMovement(context, stored, placement.placed)
    throw conflict('wallet-bridge has the movement; if it stays pending, end it there.')
  }
  if (placement.kind === 'unknown' || placement.error.retryable) throw placement.error
  await context.audit.store(orderedBy(order, round.operatorId, requestId), {
    act: 'round.resolve',
    object: { type: 'round', id: roundId },
    before: { status: round.status, transaction_id: transactionId, refused: placement.error.code },
    after: { as },
  })
  const ended = await applyMessage(context, stored, owed.message)
  return (await settleRound(context, ended, { recover: false })).round.status
}

function owedOf(round: RoundState, transactionId: string, as: Order['as']) {
  const isOwed = (one: { transactionId: string; state: string }) =>
    one.transactionId === transactionId && one.state === 'OWED'
  const win = round.wins.find(isOwed)
  if (win !== undefined) {
    const type = as === 'success' ? 'win-paid' : 'win-failed'
    return { order: { spec: winSpec(round, win) }, message: { type, transactionId } as const }
  }
  const reversal = round.reversals.find(isOwed)
  if (reversal === undefined) return null
  const type = as === 'success' ? 'reversal-done' : 'reversal-failed'
  return { order: reversalOrder(round, reversal), message: { type, transactionId } as const }
}

type Told = RequestOf<typeof opsEndRoundAsTold>

/**
 * Ends a round that a restored database has open again, as its event says: its player knows what the seed
 * gives. A stake that has gone back is learned from wallet-bridge; an outcome is drawn from the round's own
 * seed and must give the same. Source: docs/runbook.md. @returns the status; PENDING while its stake settles
 * @throws ServiceError ROUND_NOT_FOUND; CONFLICT when the operator drives the round, or it ends otherwise
 */
export async function endAsTold(context: RoundsContext & PlayContext, told: Told, requestId: string) {
  const { order, roundId, end } = told
  const stored = await findAnyRound(context, roundId)
  const { round } = stored
  if (round.driver === 'operator') throw conflict("The operator's server ends this round.")
  if (!isUnfinished(round)) return round.status
  const play = end.status === 'VOIDED' ? null : playOf(context, round, end)
  if (order.dryRun) return round.status
  await context.audit.store(orderedBy(order, round.operatorId, requestId), {
    act: 'round.heal',
    object: { type: 'round', id: roundId },
    before: { status: round.status, tiles_opened: [...round.actions] },
    after: end,
  })
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

function playOf({ catalogue }: PlayContext, { game, currency }: RoundState, end: Told['end']) {
  const read = catalogue.find(game)?.game.readOutcome(end.outcome)
  if (read === null || read === undefined) throw conflict('This is no outcome of the game.')
  return { actions: read.actions, payout: parseAmount(end.payout, currency) }
}

/**
 * Publishes the event of a round's end once more; its id follows from the round. Source: docs/runbook.md.
 * @returns its id; null for a round that has not ended or never started. @throws ServiceError ROUND_NOT_FOUND
 */
export async function republishEnd(context: RoundsContext, roundId: string, dryRun: boolean) {
  const stored = await findAnyRound(context, roundId)
  const event = endEvent(stored.round)
  if (event !== null && !dryRun) await context.rounds.publishAgain(stored, event)
  return event?.id ?? null
}
