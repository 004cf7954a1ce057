import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import type { Movement, TransactionBody } from '@pitboss/contracts/objects/movement'
import { invalidField, ServiceError, tryAgain } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { readConfirmed } from '@pitboss/storage/confirm-primary'
import type { Placed } from '../clients/wallet.ts'
import type { PlayContext } from '../context.ts'
import { isWithin, narrow, readAmount } from '../rules/limits.ts'
import { assertMayPlay } from '../rules/live-rules.ts'
import { assertDone, resourceOf, transactionHash } from '../rules/movement.ts'
import {
  isSameMeaning,
  meaningOf,
  namesItsId,
  namingItsId,
  refusalError,
  refusalOf,
} from '../rules/refusal.ts'
import type { RoundMessage } from '../rules/round-message.ts'
import { movementsOf, type Reversal, type RoundState, type Stake, type Win } from '../rules/round.ts'
import { IdTaken } from '../storage/append-round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import { type DeadRequest, movementKey } from '../storage/round-stream.ts'
import { type SessionDocument, stakeRangeOf } from '../storage/sessions-store.ts'
import { applyAndReport, refreshMovements } from './change-round.ts'
import { readOfferedGame } from './offered-game.ts'
import { awaitMovement } from './place-stake.ts'

export type MovementRequest<Body = TransactionBody> = {
  readonly caller: Caller
  readonly body: Body
  readonly call: HandlerContext
}

export type BetRequest = MovementRequest<Extract<TransactionBody, { type: 'BET' }>>

/** The record of the movement: 201 for the request that placed it, 200 for its repeats. */
export type PlacedTransaction = { status: 201 | 200; body: Movement }

/** The round with a movement of this id, the request's own if several players have one; null for none. */
async function findEarlier(context: PlayContext, { caller, body }: MovementRequest) {
  const found = await context.rounds.listByTransaction(caller.scope, body.transaction_id)
  return found.find(({ round }) => ownMovement(round, body) !== null) ?? found[0] ?? null
}

/** As `findEarlier`. @throws ServiceError the answer to a request whose id is dead */
export async function findFirst(context: PlayContext, request: MovementRequest): Promise<StoredRound | null> {
  const dead = findDeadAnswer(context, request.caller.scope, request.body)
  const [answer, earlier] = await Promise.all([dead, findEarlier(context, request)])
  if (answer !== null) throw answer
  return earlier
}

/** Answers a repeat with the same record or error. @throws ServiceError TRANSACTION_CONFLICT */
export async function answerRepeat(context: PlayContext, { round }: StoredRound, request: MovementRequest) {
  const { body, call } = request
  const known = ownMovement(round, body)
  if (known === null) {
    if (round.driver === 'game') context.noteConflict(round, body.transaction_id)
    throw new ServiceError('TRANSACTION_CONFLICT')
  }
  const { movement, outcome } = await awaitMovement(context, round, body.transaction_id, call)
  assertDone(outcome, resourceOf(round, known.transactionId))
  return { status: 200 as const, body: movement }
}

export async function findSession(context: PlayContext, { caller, body }: BetRequest) {
  const session = await context.sessions.find(caller.scope, body.session_id)
  if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
  return session
}

/**
 * Checks a stake. @throws ServiceError SERVICE_UNAVAILABLE while new play yields, CURRENCY_MISMATCH,
 * VALIDATION_ERROR at `amount`, as `assertMayPlay` and `readOfferedGame`, BET_LIMIT_EXCEEDED, in this order
 */
export async function checkStake(context: PlayContext, request: BetRequest, session: SessionDocument) {
  const { caller, body } = request
  context.admitPlay(caller.scope)
  if (body.currency !== session.currency) throw new ServiceError('CURRENCY_MISMATCH')
  const amount = readAmount(body.amount, session.currency, 'amount')
  assertMayPlay(caller, session, context.clock.now())
  const game = await readOfferedGame(context, caller.scope.operatorId, session.game)
  const limits = game.limits(session.currency)
  if (!isWithin(narrow(limits, stakeRangeOf(session)), amount)) throw new ServiceError('BET_LIMIT_EXCEEDED')
  await context.hooks.assertWithinLimits(caller.scope, session, amount)
  return { entry: game.entry, amount, limits }
}

/** @throws ServiceError ROUND_NOT_FOUND; VALIDATION_ERROR for a round that the service plays */
export async function findDriven(context: PlayContext, { scope }: Caller, roundId: string) {
  const stored = await readConfirmed(() => context.rounds.find(scope, roundId), {
    confirm: context.rounds.confirmPrimary,
  })
  if (stored === null) throw new ServiceError('ROUND_NOT_FOUND')
  if (stored.round.driver !== 'operator') throw invalidField('round_id', 'is a round that the service plays')
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
    if (first === null) throw tryAgain()
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

const triesMax = 8

type Reading = Pick<PlayContext, 'rounds'>

/*
 * An id of the operator's server is dead or has a movement, never both: each claims the id, and the first
 * insert decides it for ever. Source: docs/contract.md, section 1, "What a refusal promises".
 */

/** The answer to a request whose id is dead; null while it lives. */
async function findDeadAnswer(context: Reading, scope: Scope, body: TransactionBody) {
  const claimed = await context.rounds.findClaimed(movementKey(scope, body.transaction_id))
  if (claimed === null || 'stored' in claimed) return null
  const { dead } = claimed
  // An id is one request's; a tombstone leaves it to what gives back.
  return dead.kind === kindOf(body.type) || dead.meaning !== null ? deadAnswerOf(dead, body) : null
}

/**
 * Refuses a request without a movement, for good if `error` kills its id. @returns the round in which a
 * request with this id was first. @throws ServiceError `error`, or the first refusal; TRANSACTION_CONFLICT
 */
export async function refuseForGood(context: Reading, scope: Scope, body: TransactionBody, error: unknown) {
  if (!(error instanceof ServiceError) || error.retryable || namesItsId(error)) throw error
  const { transaction_id: transactionId } = body
  const refusal = refusalOf(error)
  if (refusal === null) {
    // Nothing was written for this refusal: only a confirmed primary knows that nobody was first.
    const [other] = await readConfirmed(() => context.rounds.listByTransaction(scope, transactionId), {
      confirm: context.rounds.confirmPrimary,
      isEmpty: (rounds) => rounds.length === 0,
    })
    if (other === undefined) throw error
    return other
  }
  const dead = { ...refusal, kind: kindOf(body.type), meaning: meaningOf(body), requestHash: null }
  const killed = await kill(context, scope, transactionId, dead)
  if ('round' in killed) return killed
  throw deadAnswerOf(killed, body)
}

/** Leaves a tombstone for a stake or win that has not arrived. @returns its round if it has meanwhile */
export async function bury(context: Reading, scope: Scope, transactionId: string) {
  const message = 'A rollback of this id came before it; it moves nothing.'
  const killed = await kill(context, scope, transactionId, {
    ...{ code: 'TRANSACTION_ALREADY_REVERSED', message, details: null },
    ...{ kind: 'movement', meaning: null, requestHash: null },
  })
  return 'round' in killed ? killed : null
}

async function kill(context: Reading, scope: Scope, transactionId: string, dead: DeadRequest) {
  for (let tries = 0; tries < triesMax; tries++) {
    const claimed = await context.rounds.findClaimed(movementKey(scope, transactionId))
    if (claimed !== null && 'dead' in claimed) return claimed.dead
    const [other] = await context.rounds.listByTransaction(scope, transactionId)
    if (other !== undefined) return other
    if (await context.rounds.killMovement(scope, transactionId, dead)) return dead
  }
  throw tryAgain(`movements under ${transactionId} kept being stored and taken back`)
}

function deadAnswerOf({ kind, meaning, ...dead }: DeadRequest, body: TransactionBody): ServiceError {
  const isOther = kind !== kindOf(body.type) || (meaning !== null && !isSameMeaning(meaning, meaningOf(body)))
  return isOther ? new ServiceError('TRANSACTION_CONFLICT') : namingItsId(refusalError(dead))
}

function kindOf(type: TransactionBody['type']): 'movement' | 'reversal' {
  return type === 'BET' || type === 'WIN' ? 'movement' : 'reversal'
}
