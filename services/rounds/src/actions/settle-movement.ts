import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { readConfirmed } from '@pitboss/storage/confirm-primary'
import type { PlayContext } from '../context.ts'
import { readAmount } from '../rules/limits.ts'
import {
  assertDone,
  type MovementOrder,
  resourceOf,
  reversalOrder,
  transactionHash,
  unknownOutcome,
  winSpec,
} from '../rules/movement.ts'
import { hasMovement, type Reversal, type RoundState, type Win } from '../rules/round.ts'
import { scopeOf, type StoredRound } from '../storage/round-document.ts'
import { awaitStakes } from './await-stakes.ts'
import { applyMovement, refreshAll, withdrawIntent } from './change-round.ts'
import { bury } from './dead-ids.ts'
import { findByMovement } from './find-by-movement.ts'
import { answerOf, findDriven, intend, type PlacedTransaction } from './operator-movement.ts'

type WinBody = Extract<TransactionBody, { type: 'WIN' }>
type ReversalBody = Extract<TransactionBody, { reference_transaction_id: string }>

/** Tries of one reversal, when intents come and go beside it. */
const triesMax = 8

/** Refusals that the round would have foreseen if it knew how its movements stand. */
const unforeseenCodes: readonly string[] = [
  'CONFLICT',
  'ROUND_ALREADY_SETTLED',
  'ROUND_IN_PROGRESS',
  'TRANSACTION_ALREADY_REVERSED',
  'TRANSACTION_NOT_FOUND',
]

export async function addWin(
  context: PlayContext,
  caller: Caller,
  body: WinBody,
  call: HandlerContext,
): Promise<PlacedTransaction> {
  const stored = await findDriven(context, caller, body.round_id)
  const { currency } = stored.round
  if (body.currency !== currency) throw new ServiceError('CURRENCY_MISMATCH')
  const win: Win = {
    transactionId: body.transaction_id,
    minor: readAmount(body.amount, currency, 'amount'),
    requestHash: transactionHash(body, stored.round),
    final: body.final,
    state: 'OWED',
  }
  const outcome = body.outcome ?? null
  const message = { type: 'add-win', win, outcome } as const
  const ready = await awaitStakes(context, stored, win, call)
  const intended = await intend(context, ready, body, call, message)
  if ('status' in intended) return intended
  return settle(context, intended, { spec: winSpec(intended.round, win) }, call)
}

export async function reverse(
  context: PlayContext,
  caller: Caller,
  body: ReversalBody,
  call: HandlerContext,
): Promise<PlacedTransaction> {
  for (let tries = 0; tries < triesMax; tries++) {
    const stored = await findReferenced(context, caller, body, call)
    const { round } = stored
    if (round.driver !== 'operator') {
      throw invalidField('reference_transaction_id', 'is a movement of a round that the service plays')
    }
    assertReferenceFits(round, body)
    const reversal: Reversal = {
      transactionId: body.transaction_id,
      referenceTransactionId: body.reference_transaction_id,
      type: body.type,
      requestHash: transactionHash(body, round),
      closes: false,
      state: 'OWED',
    }
    const intended = await intend(context, stored, body, call, { type: 'add-reversal', reversal }).catch(
      (error: unknown) => {
        if (isGone(error)) return null
        throw error
      },
    )
    // The intent that it would give back was taken back meanwhile.
    if (intended === null) continue
    if ('status' in intended) return intended
    const own = intended.round.reversals.find((one) => one.transactionId === body.transaction_id) ?? reversal
    return settle(context, intended, reversalOrder(intended.round, own), call)
  }
  throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
}

/**
 * The round with this movement; a rollback of one that has not arrived leaves a tombstone.
 * @throws ServiceError TRANSACTION_NOT_FOUND; VALIDATION_ERROR for a rollback that the service itself made
 */
async function findReferenced(
  context: PlayContext,
  { scope }: Caller,
  { type, reference_transaction_id: transactionId }: ReversalBody,
  call: HandlerContext,
): Promise<StoredRound> {
  const found = await readConfirmed(() => findByMovement(context.rounds, scope, transactionId), {
    confirm: context.rounds.confirmPrimary,
    isEmpty: (rows) => rows.length === 0,
  })
  const stored = found.find(({ round }) => !endedWithout(round)) ?? found[0]
  if (stored !== undefined) return stored
  // Rollbacks of the service's own have ids that wallet-bridge alone knows.
  const known = (await context.wallet.show(scope, transactionId, call))?.movement
  if (known?.type === 'REFUND' || known?.type === 'ROLLBACK') throw notToReverse()
  // The stake of a game is found by lists, which may not show its round yet.
  const round = known === undefined ? null : await context.rounds.find(scope, known.round_id)
  if (round !== null && hasMovement(round.round, transactionId)) return round
  const arrived = type === 'ROLLBACK' ? await bury(context, scope, transactionId) : null
  if (arrived === null) throw new ServiceError('TRANSACTION_NOT_FOUND')
  return arrived
}

/**
 * Places a credit or a rollback whose intent is stored. From here on only its acknowledgement, or a person,
 * ends it. When wallet-bridge cannot be reached the intent is kept, since others may have been refused for
 * its sake: "settlement is never refused for places". A definite refusal is answered only after the intent
 * was taken back: "a definite answer is true for ever" (docs/contract.md, section 12).
 */
async function settle(
  context: PlayContext,
  stored: StoredRound,
  order: MovementOrder,
  call: HandlerContext,
): Promise<PlacedTransaction> {
  const { round } = stored
  const { transactionId } = order.spec
  const resource = resourceOf(round, transactionId)
  const placement = await context.wallet.place(scopeOf(round), order, call)
  await failpoint('rounds.settlement-placed')
  const isRefused = placement.kind === 'not-written' && !placement.error.retryable
  if (isRefused && (await withdrawIntent(context, stored, transactionId))) {
    await reviewAfter(context, stored, placement.error, call)
    throw placement.error
  }
  if (placement.kind !== 'placed') throw unknownOutcome(resource, placement.error)
  const { movement, outcome } = placement.placed
  await applyMovement(context, stored, movement, outcome)
  assertDone(outcome, resource)
  return answerOf(placement.placed)
}

/** Asks how the round's movements stand after a refusal that the round did not foresee. */
async function reviewAfter(
  context: PlayContext,
  { round }: StoredRound,
  { code }: ServiceError,
  call: HandlerContext,
) {
  if (!unforeseenCodes.includes(code)) return
  const current = await context.rounds.find(scopeOf(round), round.id)
  if (current !== null) await refreshAll(context, current, call)
}

/** Whether the stake or win of a reversal, or its round, is no more. */
function isGone(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    (error.code === 'TRANSACTION_NOT_FOUND' || error.code === 'ROUND_NOT_FOUND')
  )
}

function notToReverse(): ServiceError {
  return invalidField('reference_transaction_id', 'is itself a refund or a rollback')
}

function endedWithout({ status }: RoundState): boolean {
  return status === 'VOIDED' || status === 'FAILED'
}

/** @throws ServiceError VALIDATION_ERROR for another amount, CURRENCY_MISMATCH for another currency */
function assertReferenceFits(round: RoundState, body: ReversalBody): void {
  const reference = [...round.stakes, ...round.wins].find(
    ({ transactionId }) => transactionId === body.reference_transaction_id,
  )
  if (reference === undefined) {
    throw notToReverse()
  }
  if (body.currency !== undefined && body.currency !== round.currency) {
    throw new ServiceError('CURRENCY_MISMATCH')
  }
  if (body.amount === undefined) return
  if (readAmount(body.amount, round.currency, 'amount') !== reference.minor) {
    throw invalidField('amount', 'must be the amount of the original movement')
  }
}
