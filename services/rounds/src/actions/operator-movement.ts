import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { Movement, TransactionBody } from '@pitboss/contracts/objects/movement'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { readConfirmed } from '@pitboss/storage/confirm-primary'
import type { PlayContext } from '../context.ts'
import type { Placed } from '../clients/wallet.ts'
import type { CatalogueEntry } from '../rules/catalogue.ts'
import { type AccountLimits, isWithin, narrow, readAmount } from '../rules/limits.ts'
import { assertMayPlay } from '../rules/live-rules.ts'
import { assertDone, resourceOf, transactionHash } from '../rules/movement.ts'
import type { RoundMessage } from '../rules/round-message.ts'
import { movementsOf, type Reversal, type RoundState, type Stake, type Win } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import { IdTaken } from '../storage/append-round.ts'
import { type SessionDocument, stakeRangeOf } from '../storage/sessions-store.ts'
import { applyAndReport, refreshMovements } from './change-round.ts'
import { findDeadAnswer } from './dead-ids.ts'
import { awaitMovement } from './await-movement.ts'
import { readOfferedGame } from './offered-game.ts'

export type BetBody = Extract<TransactionBody, { type: 'BET' }>

export type MovementRequest<Body = TransactionBody> = {
  readonly caller: Caller
  readonly body: Body
  readonly call: HandlerContext
}

/** The record of the movement: 201 for the request that placed it, 200 for its repeats. */
export type PlacedTransaction = { status: 201 | 200; body: Movement }

/** The round with a movement of this id, the request's own if several players have one; null for none. */
export async function findEarlier(context: PlayContext, { caller, body }: MovementRequest) {
  const found = await context.rounds.listByTransaction(caller.scope, body.transaction_id)
  return found.find(({ round }) => ownMovement(round, body) !== null) ?? found[0] ?? null
}

/** As `findEarlier`. @throws ServiceError the answer to a request whose id is dead */
export async function findFirst(context: PlayContext, request: MovementRequest): Promise<StoredRound | null> {
  const answer = await findDeadAnswer(context, request.caller.scope, request.body)
  if (answer !== null) throw answer
  return findEarlier(context, request)
}

/** Answers a repeat with the same record or error. @throws ServiceError TRANSACTION_CONFLICT */
export async function answerRepeat(
  context: PlayContext,
  { round }: StoredRound,
  { body, call }: MovementRequest,
): Promise<PlacedTransaction> {
  const known = ownMovement(round, body)
  if (known === null) {
    if (round.driver === 'game') context.noteConflict(round, body.transaction_id)
    throw new ServiceError('TRANSACTION_CONFLICT')
  }
  const { movement, outcome } = await awaitMovement(context, round, body.transaction_id, call)
  assertDone(outcome, resourceOf(round, known.transactionId))
  return { status: 200, body: movement }
}

export async function findSession(context: PlayContext, { caller, body }: MovementRequest<BetBody>) {
  const session = await context.sessions.find(caller.scope, body.session_id)
  if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
  return session
}

/**
 * Checks a stake. @throws ServiceError SERVICE_UNAVAILABLE while new play yields, CURRENCY_MISMATCH,
 * VALIDATION_ERROR at `amount`, as `assertMayPlay` and `readOfferedGame`, BET_LIMIT_EXCEEDED, in this order
 */
export async function checkStake(
  context: PlayContext,
  { caller, body }: MovementRequest<BetBody>,
  session: SessionDocument,
): Promise<{ entry: CatalogueEntry; amount: bigint; limits: AccountLimits }> {
  context.admitPlay(caller.scope)
  if (body.currency !== session.currency) throw new ServiceError('CURRENCY_MISMATCH')
  const amount = readAmount(body.amount, session.currency, 'amount')
  assertMayPlay(caller, session, context.clock.now())
  const game = await readOfferedGame(context, caller.scope.operatorId, session.game)
  const limits = game.limits(session.currency)
  if (!isWithin(narrow(limits, stakeRangeOf(session)), amount)) throw new ServiceError('BET_LIMIT_EXCEEDED')
  await context.hooks.enforceLimits(caller.scope, session)?.assertWithinLimits(amount)
  return { entry: game.entry, amount, limits }
}

/** @throws ServiceError ROUND_NOT_FOUND; VALIDATION_ERROR for a round that the service plays */
export async function findDriven(context: PlayContext, { scope }: Caller, roundId: string) {
  const stored = await readConfirmed(() => context.rounds.find(scope, roundId), {
    confirm: context.rounds.confirmPrimary,
  })
  if (stored === null) throw new ServiceError('ROUND_NOT_FOUND')
  if (stored.round.driver !== 'operator') {
    throw invalidField('round_id', 'is a round that the service plays')
  }
  return stored
}

/** Stores the intent before the wallet is asked. @returns the answer to a repeat if an equal one was first */
export async function intend(
  context: PlayContext,
  stored: StoredRound,
  request: MovementRequest,
  message: RoundMessage,
): Promise<StoredRound | PlacedTransaction> {
  const current = await refreshMovements(context, stored, request.call)
  const told = await applyAndReport(context, current, message).catch((error: unknown) => {
    if (error instanceof IdTaken) return null
    throw error
  })
  if (told === null) {
    const first = await findFirst(context, request)
    if (first === null) throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
    return answerRepeat(context, first, request)
  }
  const { stored: intended, changed } = told
  if (!changed) return answerRepeat(context, intended, request)
  await failpoint('rounds.movement-intended')
  return intended
}

export function answerOf({ created, movement }: Placed): PlacedTransaction {
  return { status: created ? 201 : 200, body: movement }
}

/** The movement of the round that an equal request has made; null for none, or for another body. */
export function ownMovement(round: RoundState, body: TransactionBody): Stake | Win | Reversal | null {
  if (round.driver !== 'operator') return null
  const known = movementsOf(round).find(({ transactionId }) => transactionId === body.transaction_id)
  if (known === undefined) return null
  return known.requestHash === transactionHash(body, round) ? known : null
}
