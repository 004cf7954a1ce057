import type { MovementOutcome, MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { CertainMovement } from '@pitboss/contracts/calls/wallet-ops'
import { hashBody } from '@pitboss/contracts/json'
import type { Movement, TransactionBody } from '@pitboss/contracts/objects/movement'
import type { ErrorCode } from '@pitboss/errors/catalogue'
import { ServiceError } from '@pitboss/errors/service-error'
import { AmountError, formatAmount, parseAmount } from '@pitboss/money/amount'
import { namingItsId } from './refusal.ts'
import type { RoundMessage } from './round-message.ts'
import type { Reversal, RoundState, Stake, Win } from './round.ts'

/** With the rollback of a stake, or refund of a taken one, goes the stake, in case wallet-bridge lacks it. */
export type MovementOrder = { readonly spec: MovementSpec; readonly stake?: MovementSpec }

export function stakeSpec(round: RoundState, stake: Stake): MovementSpec {
  const spec = specOf(round, stake, { type: 'BET', roundClosed: false })
  return isAdded(round, stake) ? { ...spec, isAdded: true } : spec
}

/** The request for a win's credit; of zero, wallet-bridge decides whether the wallet is called. */
export function winSpec(round: RoundState, win: Win): MovementSpec {
  return specOf(round, win, { type: 'WIN', roundClosed: win.final })
}

/** The request for the return of a stake (REFUND, a credit) or for the voiding of a movement (ROLLBACK). */
export function reversalOrder(round: RoundState, reversal: Reversal): MovementOrder {
  const { type, closes: roundClosed, referenceTransactionId } = reversal
  const isReference = ({ transactionId }: Stake | Win) => transactionId === referenceTransactionId
  const stake = round.stakes.find(isReference)
  const minor = (stake ?? round.wins.find(isReference))?.minor ?? 0n
  const spec = specOf(round, { ...reversal, minor }, { type, roundClosed, referenceTransactionId })
  const isCarried = type === 'ROLLBACK' || stake?.wasTaken === true
  return isCarried && stake !== undefined ? { spec, stake: stakeSpec(round, stake) } : { spec }
}

function isAdded({ stakes: [first] }: RoundState, { transactionId }: Stake): boolean {
  return first !== undefined && first.transactionId !== transactionId
}

/** The request for a part of a round. The same part of the same round gives the same request for ever. */
function specOf(
  round: RoundState,
  { transactionId, minor, requestHash }: Pick<Stake, 'transactionId' | 'minor' | 'requestHash'>,
  kind: Pick<MovementSpec, 'type' | 'roundClosed'> & { referenceTransactionId?: string },
): MovementSpec {
  const { currency, playerId, sessionId, walletRoundId, walletGameId, game, brandId, freeBet, driver } = round
  return {
    ...{ currency, playerId, sessionId, walletRoundId, walletGameId, game, brandId, freeBet, driver },
    roundId: round.id,
    callWallet: null,
    transactionId,
    amount: formatAmount(minor, currency),
    requestHash,
    referenceTransactionId: null,
    ...kind,
  }
}

/** The movement whose outcome is unknown. Source: docs/contract.md, section 11. */
export function resourceOf(round: { readonly id: string }, transactionId: string) {
  return { round_id: round.id, transaction_id: transactionId }
}

type Resource = ReturnType<typeof resourceOf>

export function unknownOutcome(resource: Resource, cause?: ServiceError): ServiceError {
  return new ServiceError('WALLET_TIMEOUT', { resource, cause })
}

/** @throws ServiceError WALLET_TIMEOUT or WALLET_UNAVAILABLE with `resource` while the outcome is unknown */
export function assertCertain(outcome: MovementOutcome, resource: Resource): void {
  if (outcome.kind === 'pending') throw new ServiceError(outcome.code, { resource })
}

/** As `assertCertain`; a wallet's refusal is thrown, too. `hasOwnId`: whether it uses up the request's id. */
export function assertDone(outcome: MovementOutcome, resource: Resource, hasOwnId = true): void {
  assertCertain(outcome, resource)
  if (outcome.kind === 'refused') throw walletRefusal(outcome.code, hasOwnId)
}

/** The error for a stake that the wallet has refused. @param hasOwnId as of `assertDone` */
export function walletRefusal(code: ErrorCode, hasOwnId: boolean): ServiceError {
  const error = new ServiceError(code)
  return hasOwnId ? namingItsId(error) : error
}

/** A movement as wallet-bridge answers it. */
export type Known = {
  readonly movement: Movement
  readonly outcome: MovementOutcome
  readonly settleLosses?: RoundState['settleLosses'] | undefined
}

export function movementMessage({ movement, outcome, settleLosses }: Known): RoundMessage | null {
  const { transaction_id: transactionId, type, status } = movement
  if (status === 'PENDING') return null
  const refusal = outcome.kind === 'refused' ? outcome.code : null
  switch (type) {
    case 'BET':
      if (status === 'SUCCESS') return { type: 'stake-taken', transactionId, settleLosses }
      if (status === 'FAILED')
        return { type: 'stake-refused', transactionId, code: refusal ?? 'WALLET_REJECTED' }
      return { type: 'stake-returned', transactionId, refusal }
    case 'WIN':
      return { type: status === 'FAILED' ? 'win-failed' : 'win-paid', transactionId }
    case 'REFUND':
    case 'ROLLBACK':
      return { type: status === 'FAILED' ? 'reversal-failed' : 'reversal-done', transactionId }
  }
}

type MeaningContext = Pick<RoundState, 'currency'> & Partial<Pick<RoundState, 'stakes' | 'wins'>>

/**
 * The hash of a request by its meaning. Equal however written: "10.5" and "10.50", fields in another order, a
 * default or a reversal's amount given or left out. Source: docs/contract.md, section 5.
 */
export function transactionHash(body: TransactionBody, round: MeaningContext): string {
  if (body.type === 'BET' || body.type === 'WIN')
    return hashBody({ ...body, amount: meaningOf(body.amount, round.currency) })
  const { amount, currency = round.currency, ...rest } = body
  const original = [...(round.stakes ?? []), ...(round.wins ?? [])].find(
    ({ transactionId }) => transactionId === body.reference_transaction_id,
  )
  const whole = original === undefined ? null : String(original.minor)
  return hashBody({ ...rest, currency, amount: amount === undefined ? whole : meaningOf(amount, currency) })
}

function meaningOf(amount: string, currency: string): string {
  try {
    return String(parseAmount(amount, currency))
  } catch (error) {
    // This text is no amount of the currency, so the body is another than one that was accepted.
    if (error instanceof AmountError) return `as written: ${amount}`
    throw error
  }
}

/**
 * The movements of a round that have ended for certain, originals first. Left out are stakes that nobody
 * knows to be taken, credits that are owed, and stakes that the service took back by itself: nothing of them
 * stands. Source: docs/runbook.md, "A restored backup".
 */
export function certainMovements(round: RoundState): CertainMovement[] {
  const { stakes, wins, reversals } = round
  const isReversed = (id: string) => reversals.some((one) => one.referenceTransactionId === id)
  return [
    ...stakes.flatMap((stake): CertainMovement[] => {
      const spec = stakeSpec(round, stake)
      if (stake.state === 'REFUSED') return [{ spec, end: 'FAILED', code: stake.refusal }]
      const isKnown = stake.wasTaken && (stake.state !== 'RETURNED' || isReversed(stake.transactionId))
      return isKnown ? [{ spec, end: 'SUCCESS', code: null }] : []
    }),
    ...wins.flatMap((win): CertainMovement[] => {
      if (win.state === 'OWED') return []
      const isFailed = win.state === 'REVERSED' && !isReversed(win.transactionId)
      return [{ spec: winSpec(round, win), end: isFailed ? 'FAILED' : 'SUCCESS', code: null }]
    }),
    ...reversals.flatMap((reversal): CertainMovement[] => {
      if (reversal.state === 'OWED') return []
      const end = reversal.state === 'DONE' ? 'SUCCESS' : 'FAILED'
      return [{ spec: reversalOrder(round, reversal).spec, end, code: null }]
    }),
  ]
}
