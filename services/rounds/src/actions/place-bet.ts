import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { PlayContext } from '../context.ts'
import { transactionHash } from '../rules/movement.ts'
import type { RoundState, Stake } from '../rules/round.ts'
import { sequenceKey } from '../storage/round-document.ts'
import type { LastNonce } from '../storage/round-streams.ts'
import { makeRound, openIntent, type Plan } from './open-intent.ts'
import {
  answerOf,
  answerRepeat,
  checkStake,
  findDriven,
  findFirst,
  findSession,
  intend,
  type BetBody,
  type MovementRequest,
  ownMovement,
  type PlacedTransaction,
} from './operator-movement.ts'
import { placeStake } from './place-stake.ts'
import { showRefused } from './show-first.ts'

/** Opens a round by a BET of the operator's own server that names no round. */
export async function openOperatorRound(
  context: PlayContext,
  request: MovementRequest<BetBody>,
): Promise<PlacedTransaction> {
  const { body, call } = request
  const { scope } = request.caller
  const session = await findSession(context, request)
  const sequence = sequenceKey(scope, session.game, session.playerId)
  const requestHash = transactionHash(body, { currency: session.currency })
  const intent = {
    sequence,
    findEarlier: () => findFirst(context, request),
    isOwn: (round: RoundState) => ownMovement(round, body) !== null,
  }

  async function plan(): Promise<Plan> {
    const { entry, amount, limits } = await checkStake(context, request, session)
    const wanted = {
      session,
      driver: 'operator',
      gameId: entry.gameId,
      clientSeed: null,
      bet: null,
      stake: amount,
      maxPayout: limits.maxPayout,
      ...(limits.winsMax === null ? {} : { winsMax: limits.winsMax }),
      requestHash,
      clientTransactionId: body.transaction_id,
    } as const
    const make = (last: LastNonce) =>
      makeRound(context, { scope, sequence, last }, wanted, call, async () => null)
    return { last: await context.rounds.last(sequence), make }
  }

  const { kind, stored } = await openIntent(context, intent, plan, call)
  if (kind === 'repeat') return answerRepeat(context, stored, request)
  const hold = context.hooks.enforceLimits(scope, session)
  const stake = await showRefused(context, stored.round.id, () =>
    placeStake(context, stored, body.transaction_id, call, hold),
  )
  if (stake.kind === 'taken-back') throw stake.error
  return answerOf(stake.placed)
}

/** Adds a stake to an open round, by a BET of the operator's own server that names the round. */
export async function addStake(
  context: PlayContext,
  request: MovementRequest<BetBody>,
  roundId: string,
): Promise<PlacedTransaction> {
  const { stored, amount, session } = await checkAdded(context, request, roundId)
  const { caller, body, call } = request
  const stake: Stake = {
    transactionId: body.transaction_id,
    minor: amount,
    requestHash: transactionHash(body, stored.round),
    state: 'ASKED',
    wasTaken: false,
    refusal: null,
  }
  const intended = await intend(context, stored, request, { type: 'add-stake', stake })
  if ('status' in intended) return intended
  const hold = context.hooks.enforceLimits(caller.scope, session)
  const placed = await placeStake(context, intended, body.transaction_id, call, hold)
  if (placed.kind === 'taken-back') throw placed.error
  return answerOf(placed.placed)
}

/** Makes the checks before the intent; the rules of the round refuse the rest. */
async function checkAdded(context: PlayContext, request: MovementRequest<BetBody>, roundId: string) {
  const session = await findSession(context, request)
  const { amount } = await checkStake(context, request, session)
  const stored = await findDriven(context, request.caller, roundId)
  const { round } = stored
  if (round.playerId !== session.playerId || round.game !== session.game) {
    throw invalidField('round_id', "is a round of another player or game than the session's")
  }
  if (round.currency !== session.currency) throw new ServiceError('CURRENCY_MISMATCH')
  await context.wallet.assertConfigured(request.caller.scope, request.call)
  return { stored, amount, session }
}
