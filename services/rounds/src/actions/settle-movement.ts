import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { scopeOf } from '@pitboss/contracts/caller'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { invalidField, ServiceError, tryAgain } from '@pitboss/errors/service-error'
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
import { waitsForStake } from '../rules/operator-round.ts'
import { hasMovement, type Reversal, type RoundState, type Win } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import { applyMovement, refreshAll, refreshMovements, withdrawIntent } from './change-round.ts'
import { answerOf, bury, findDriven, intend, type MovementRequest } from './operator-movement.ts'
import { pollFirstMs, pollLastMs } from './place-stake.ts'

type WinBody = Extract<TransactionBody, { type: 'WIN' }>
type ReversalBody = Extract<TransactionBody, { reference_transaction_id: string }>

const triesMax = 8

/** Refusals that the round would have foreseen if it knew how its movements stand. */
const staleRoundCodes: readonly string[] = [
  ...['CONFLICT', 'ROUND_ALREADY_SETTLED', 'ROUND_IN_PROGRESS'],
  ...['TRANSACTION_ALREADY_REVERSED', 'TRANSACTION_NOT_FOUND'],
]
/** The stake or win of a reversal, or its round, is no more. */
const goneCodes: readonly string[] = ['TRANSACTION_NOT_FOUND', 'ROUND_NOT_FOUND']

export async function addWin(context: PlayContext, request: MovementRequest<WinBody>) {
  const { caller, body, call } = request
  const stored = await findDriven(context, caller, body.round_id)
  const { currency } = stored.round
  if (body.currency !== currency) throw new ServiceError('CURRENCY_MISMATCH')
  const { transaction_id: transactionId, final } = body
  const minor = readAmount(body.amount, currency, 'amount')
  const requestHash = transactionHash(body, stored.round)
  const win: Win = { transactionId, minor, requestHash, final, state: 'OWED' }
  const ready = await awaitStakes(context, stored, win, call)
  const message = { type: 'add-win', win, outcome: body.outcome ?? null } as const
  const intended = await intend(context, ready, request, message)
  if ('status' in intended) return intended
  return settle(context, intended, { spec: winSpec(intended.round, win) }, call)
}

export async function reverse(context: PlayContext, request: MovementRequest<ReversalBody>) {
  const { body, call } = request
  for (let tries = 0; tries < triesMax; tries++) {
    const stored = await findReferenced(context, request)
    const { round } = stored
    if (round.driver !== 'operator')
      throw invalidField('reference_transaction_id', 'is a movement of a round that the service plays')
    assertReferenceFits(round, body)
    const { transaction_id: transactionId, reference_transaction_id: referenceTransactionId, type } = body
    const owed = { requestHash: transactionHash(body, round), closes: false, state: 'OWED' } as const
    const reversal: Reversal = { transactionId, referenceTransactionId, type, ...owed }
    const intended = await intend(context, stored, request, { type: 'add-reversal', reversal }).catch(
      (error: unknown) => {
        if (error instanceof ServiceError && goneCodes.includes(error.code)) return null
        throw error
      },
    )
    // The intent that it would give back was taken back meanwhile.
    if (intended === null) continue
    if ('status' in intended) return intended
    const own = intended.round.reversals.find((one) => one.transactionId === body.transaction_id) ?? reversal
    return settle(context, intended, reversalOrder(intended.round, own), call)
  }
  throw tryAgain()
}

/** The round with this movement; a rollback of one that has not arrived leaves a tombstone. */
async function findReferenced(context: PlayContext, { caller, body, call }: MovementRequest<ReversalBody>) {
  const { scope } = caller
  const { type, reference_transaction_id: transactionId } = body
  const found = await readConfirmed(() => context.rounds.listByTransaction(scope, transactionId), {
    confirm: context.rounds.confirmPrimary,
    isEmpty: (rows) => rows.length === 0,
  })
  const stored = found.find(({ round: { status } }) => status !== 'VOIDED' && status !== 'FAILED') ?? found[0]
  if (stored !== undefined) return stored
  // Rollbacks of the service's own have ids that only wallet-bridge knows.
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
async function settle(context: PlayContext, stored: StoredRound, order: MovementOrder, call: HandlerContext) {
  const { round } = stored
  const { transactionId } = order.spec
  const resource = resourceOf(round, transactionId)
  const placement = await context.wallet.place(scopeOf(round), order, call)
  await failpoint('rounds.settlement-placed')
  const isRefused = placement.kind === 'not-written' && !placement.error.retryable
  if (isRefused && (await withdrawIntent(context, stored, transactionId))) {
    await reviewAfter(context, stored, placement.error.code, call)
    throw placement.error
  }
  if (placement.kind !== 'placed') throw unknownOutcome(resource, placement.error)
  await applyMovement(context, stored, placement.placed)
  assertDone(placement.placed.outcome, resource)
  return answerOf(placement.placed)
}

/** Asks how the round's movements stand after a refusal that the round did not foresee. */
async function reviewAfter(context: PlayContext, { round }: StoredRound, code: string, call: HandlerContext) {
  if (!staleRoundCodes.includes(code)) return
  const current = await context.rounds.find(scopeOf(round), round.id)
  if (current !== null) await refreshAll(context, current, call)
}

function notToReverse(): ServiceError {
  return invalidField('reference_transaction_id', 'is itself a refund or a rollback')
}

/** @throws ServiceError VALIDATION_ERROR for another amount, CURRENCY_MISMATCH for another currency */
function assertReferenceFits(round: RoundState, body: ReversalBody): void {
  const reference = [...round.stakes, ...round.wins].find(
    ({ transactionId }) => transactionId === body.reference_transaction_id,
  )
  if (reference === undefined) throw notToReverse()
  const { amount, currency = round.currency } = body
  if (currency !== round.currency) throw new ServiceError('CURRENCY_MISMATCH')
  if (amount !== undefined && readAmount(amount, currency, 'amount') !== reference.minor)
    throw invalidField('amount', 'must be the amount of the original movement')
}

/** Kept for the win itself and the answer's way back. */
const reserveMs = 1500

/** Waits until no stake is pending. @throws WALLET_TIMEOUT for a call that may not wait; ROUND_NOT_FOUND */
async function awaitStakes(context: PlayContext, stored: StoredRound, win: Win, call: HandlerContext) {
  let current = stored
  for (let pollMs = pollFirstMs; ; pollMs = Math.min(pollMs * 2, pollLastMs)) {
    if (waitsForStake(current.round, win)) current = await refreshMovements(context, current, call)
    if (!waitsForStake(current.round, win)) return current
    if (call.atOnce === true) throw new ServiceError('WALLET_TIMEOUT')
    if (context.clock.now().getTime() + pollMs >= call.deadlineAtMs - reserveMs) return current
    await context.wait(pollMs)
    const fresh = await context.rounds.find(scopeOf(current.round), current.round.id)
    if (fresh === null) throw new ServiceError('ROUND_NOT_FOUND')
    current = fresh
  }
}
