import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { PlayContext } from '../context.ts'
import { judgeAmount } from '../rules/limits.ts'
import { transactionHash } from '../rules/movement.ts'
import { askedStake } from '../rules/new-round.ts'
import type { RoundState } from '../rules/round.ts'
import { sequenceKey } from '../storage/round-document.ts'
import { makeRound, openIntent, type Plan } from './open-intent.ts'
import * as movement from './operator-movement.ts'
import { placeStake } from './place-stake.ts'
import { showRefused } from './read-rounds.ts'
import { addWin, reverse } from './settle-movement.ts'

/** Places a movement that the operator's server drives. Source: docs/contract.md, sections 5 and 11. */
export async function placeTransaction(
  context: PlayContext,
  caller: Caller,
  body: TransactionBody,
  call: HandlerContext,
): Promise<movement.PlacedTransaction> {
  judgeAmount(body.amount, body.currency, 'amount')
  const { scope } = caller
  const request = { caller, body, call }
  const earlier = await movement.findFirst(context, request)
  if (earlier !== null) return movement.answerRepeat(context, earlier, request)
  try {
    return await place(context, request)
  } catch (error) {
    return movement.answerRepeat(context, await movement.refuseForGood(context, scope, body, error), request)
  }
}

function place(
  context: PlayContext,
  { caller, body, call }: movement.MovementRequest,
): Promise<movement.PlacedTransaction> {
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

async function openOperatorRound(context: PlayContext, request: movement.BetRequest) {
  const { body, call } = request
  const { scope } = request.caller
  const session = await movement.findSession(context, request)
  const sequence = sequenceKey(scope, session.game, session.playerId)
  const requestHash = transactionHash(body, { currency: session.currency })
  const intent = {
    sequence,
    findEarlier: () => movement.findFirst(context, request),
    isOwn: (round: RoundState) => movement.ownMovement(round, body) !== null,
  }

  async function plan(): Promise<Plan> {
    const { entry, amount, limits } = await movement.checkStake(context, request, session)
    const { maxPayout, winsMax } = limits
    const asked = { stake: amount, requestHash, clientTransactionId: body.transaction_id }
    const unplayed = { gameId: entry.gameId, clientSeed: null, bet: null }
    const bounds = { maxPayout, ...(winsMax === null ? {} : { winsMax }) }
    const wanted = { ...asked, ...unplayed, ...bounds, session, driver: 'operator' } as const
    return {
      last: await context.rounds.last(sequence),
      make: (last) => makeRound(context, last, wanted, call),
    }
  }

  const { kind, stored } = await openIntent(context, intent, plan, call)
  if (kind === 'repeat') return movement.answerRepeat(context, stored, request)
  const stake = await showRefused(context, stored.round.id, () =>
    placeStake(context, stored, body.transaction_id, call, session),
  )
  if (stake.kind === 'taken-back') throw stake.error
  return movement.answerOf(stake.placed)
}

async function addStake(context: PlayContext, request: movement.BetRequest, roundId: string) {
  const { stored, amount, session } = await checkAdded(context, request, roundId)
  const { body, call } = request
  const requestHash = transactionHash(body, stored.round)
  const stake = askedStake({ transactionId: body.transaction_id, minor: amount, requestHash })
  const intended = await movement.intend(context, stored, request, { type: 'add-stake', stake })
  if ('status' in intended) return intended
  const placed = await placeStake(context, intended, body.transaction_id, call, session)
  if (placed.kind === 'taken-back') throw placed.error
  return movement.answerOf(placed.placed)
}

/** Makes the checks before the intent; the rules of the round refuse the rest. */
async function checkAdded(context: PlayContext, request: movement.BetRequest, roundId: string) {
  const session = await movement.findSession(context, request)
  const { amount } = await movement.checkStake(context, request, session)
  const stored = await movement.findDriven(context, request.caller, roundId)
  const { round } = stored
  if (round.playerId !== session.playerId || round.game !== session.game)
    throw invalidField('round_id', "is a round of another player or game than the session's")
  if (round.currency !== session.currency) throw new ServiceError('CURRENCY_MISMATCH')
  await context.wallet.assertConfigured(request.caller.scope, request.call)
  return { stored, amount, session }
}
