import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { type Scope, scopeKey, scopeOf } from '@pitboss/contracts/caller'
import type { FlagRules } from '@pitboss/contracts/objects/flag'
import { invalidField } from '@pitboss/errors/service-error'
import { AmountError, formatAmount, parseAmount } from '@pitboss/money/amount'
import { isBigWin, type LookReason } from '../rules/flags.ts'
import type { MovementState, MovementType, OwnRollback, Reversal } from '../rules/movement.ts'
import { movementIdOf } from '../rules/movement-keys.ts'
import type { MovementDocument, MovementFacts } from '../storage/movement-document.ts'
import type { Wallet } from '../storage/wallet-document.ts'
import { renderWalletBody } from './render-movement.ts'

const operationOf = { BET: 'debit', WIN: 'credit', REFUND: 'credit', ROLLBACK: 'rollback' } as const

export function initialState(type: MovementType, at: Date): MovementState {
  return {
    type,
    operation: operationOf[type],
    status: 'PENDING',
    ...{ createdAt: at, updatedAt: at, tries: 0, unknownTries: 0, call: null, dueAt: at },
    ...{ pendingCode: null, refusalCode: null, walletCode: null, walletTransactionId: null },
    ...{ balanceAfter: null, reversal: null },
  }
}

/** The state of a zero win without a wallet call: a success as soon as it is stored. */
export function uncalledState(at: Date): MovementState {
  return { ...initialState('WIN', at), operation: null, status: 'SUCCESS', dueAt: null }
}

type NewMovement = {
  readonly scope: Scope
  readonly spec: MovementSpec
  readonly reference: string
  readonly state: MovementState
  /** The address to which it is sent; none for a movement that is never sent. */
  readonly walletUrl?: string
  readonly traceparent?: string | undefined
  /** From which amounts on a win is looked at. */
  readonly bigWins?: FlagRules['big_win']
  /** Of the wallet, when the movement is placed. */
  readonly settleLosses?: Wallet['settleLosses']
}

/** @throws ServiceError VALIDATION_ERROR for an amount that the currency cannot have */
export function documentOf(movement: NewMovement): MovementDocument {
  const { scope, spec, reference, state, walletUrl, traceparent, bigWins = [], settleLosses } = movement
  const isStakeOfGame = spec.type === 'BET' && spec.driver === 'game'
  const { type: _type, callWallet: _callWallet, ...fixed } = spec
  const facts = {
    ...{ ...fixed, amount: normaliseAmount(spec.amount, spec.currency) },
    ...{ ...scopeOf(scope), walletKey: scopeKey(scope), reference },
    ...(walletUrl === undefined ? {} : { walletUrl }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(isStakeOfGame && settleLosses === 'zero_credit' ? { settleLosses } : {}),
  }
  const document = toDocument(facts, state)
  return isBigWin(document, bigWins) ? lookedAt(document, 'BIG_WIN') : document
}

/** The document of a reversal. It follows from its original, so every process makes the same one. */
export function reversalDocumentOf(original: MovementDocument, reversal: Reversal): MovementDocument {
  const { transactionId, reference, requestHash, roundClosed } = reversal
  const { operatorId, environment, walletKey, walletUrl, traceparent } = original
  const { amount, currency, playerId, sessionId, roundId, walletRoundId, walletGameId } = original
  const { game, brandId, freeBet, driver, transactionId: referenceTransactionId } = original
  const facts = {
    ...{ transactionId, reference, referenceTransactionId, requestHash, roundClosed, driver },
    ...{ operatorId, environment, walletKey, amount, currency, playerId, sessionId, brandId },
    ...{ roundId, walletRoundId, walletGameId, game, freeBet },
    ...(walletUrl === undefined ? {} : { walletUrl }),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
  const state = initialState(reversal.type, reversal.askedAt)
  const document = toDocument(facts, reversal.ofRefused === true ? { ...state, ofRefused: true } : state)
  // The service gives back only stakes of unknown outcome.
  return reversal.origin === 'caller' ? lookedAt(document, 'BACK_AFTER_WIN') : document
}

/** The amount with all decimals of its currency. @throws ServiceError VALIDATION_ERROR, `at` some place */
export function normaliseAmount(amount: string, currency: string, at = ''): string {
  try {
    return formatAmount(parseAmount(amount, currency), currency)
  } catch (error) {
    if (!(error instanceof AmountError)) throw error
    throw invalidField(`${at}${error.reason === 'UNKNOWN_CURRENCY' ? 'currency' : 'amount'}`, error.message)
  }
}

type Stake = Pick<MovementFacts, 'isAdded'>

/** A rollback, with new ids, that the service itself makes of a stake. */
export function freshRollback({ isAdded }: Stake, newId: (prefix: string) => string): OwnRollback {
  return { transactionId: newId('rbk'), reference: newId('txn'), roundClosed: isAdded !== true }
}

function lookedAt(document: MovementDocument, reason: LookReason): MovementDocument {
  return { ...document, lookFor: [reason] }
}

function toDocument(facts: Omit<MovementFacts, 'body'>, state: MovementState): MovementDocument {
  return {
    _id: movementIdOf(facts, facts.transactionId),
    ...{ n: 0, w: '' },
    ...facts,
    body: renderWalletBody(facts, state.type, state.createdAt),
    ...state,
    attempts: [],
  }
}
