import type { Oddity } from '@pitboss/contracts/certification/exchange'
import { formatAmount, readBalance } from '@pitboss/money/amount'
import type { Judgement, PendingCode, RefusalCode, WalletOperation } from './movement.ts'
import { digitsOf, type JsonObject, parseJsonObject } from '@pitboss/contracts/json'
import { isNearSuccess, unclearStatuses } from '@pitboss/contracts/wallet-words'

export type WalletExchange =
  | {
      readonly kind: 'answer'
      readonly httpStatus: number
      readonly body: Uint8Array
      readonly cutOff: boolean
      /** The Date header. */
      readonly date: string | null
      readonly contentType?: string
      /** What a certification notes, though the answer is taken. */
      readonly oddities?: readonly Oddity[]
    }
  /** `begunWith`: the status of an answer whose body did not end. */
  | { readonly kind: 'timeout'; readonly begunWith?: number }
  /** No connection, or it broke before the answer was complete. */
  | { readonly kind: 'no-answer'; readonly reason: string }

type Meaning = 'success' | 'rolled-back' | 'unknown' | RefusalCode

/** Any other code is WALLET_REJECTED. Source: docs/contract.md, section 6. */
export const walletCodeMeanings: ReadonlyMap<string, Meaning> = new Map([
  ['OK', 'success'],
  ['DUPLICATE', 'success'],
  ['INSUFFICIENT_FUNDS', 'INSUFFICIENT_FUNDS'],
  ['PLAYER_BLOCKED', 'PLAYER_BLOCKED'],
  ['PLAYER_NOT_FOUND', 'PLAYER_BLOCKED'],
  ['SELF_EXCLUDED', 'PLAYER_BLOCKED'],
  ['KYC_REQUIRED', 'PLAYER_BLOCKED'],
  ['LIMIT_EXCEEDED', 'BET_LIMIT_EXCEEDED'],
  ['CURRENCY_MISMATCH', 'CURRENCY_MISMATCH'],
  ['TEMPORARY_ERROR', 'unknown'],
  // It speaks of another movement, so nothing of this one can stand.
  ['TRANSACTION_CONFLICT', 'WALLET_REJECTED'],
])

/** A rollback of a movement that the wallet never saw is done. */
const operationMeanings: Readonly<Record<WalletOperation, ReadonlyMap<string, Meaning>>> = {
  debit: new Map([['TRANSACTION_ROLLED_BACK', 'rolled-back']]),
  credit: new Map(),
  rollback: new Map([['TRANSACTION_NOT_FOUND', 'success']]),
}

const walletCodeCharactersMax = 128

/** `unknown` unless clear: the wallet may have moved money. Source: docs/contract.md, section 6. */
export function judgeExchange(operation: WalletOperation, currency: string, exchange: WalletExchange) {
  if (exchange.kind === 'timeout') {
    const { begunWith } = exchange
    const began = begunWith === undefined ? '' : `: http status ${begunWith} came, the body did not end`
    return unknown(`no complete answer in time${began}`, null, 'WALLET_TIMEOUT')
  }
  if (exchange.kind === 'no-answer') return unknown(exchange.reason)
  const { httpStatus } = exchange
  if (exchange.cutOff) return unknown('the answer is longer than 64 KiB')
  const body = parseJsonObject(exchange.body)
  const walletCode = body === null ? null : readCode(body)
  if (httpStatus >= 500 || httpStatus === 429) return unknown(`http status ${httpStatus}`, walletCode)
  if (httpStatus < 200) return unknown(`http status ${httpStatus}`)
  if (httpStatus >= 300 && httpStatus < 400) return unknown(`a redirect (${httpStatus})`)
  if (body === null) return unknown('the answer is not a JSON object')
  if (walletCode === null) return unknown('the answer has no usable status')
  const isNumber = typeof body.transactionId === 'number'
  const transactionId = readText(isNumber ? digitsOf(exchange.body, 'transactionId') : body.transactionId)
  return judgeCode(operation, currency, { httpStatus, body, walletCode, transactionId })
}

type CodedAnswer = {
  readonly httpStatus: number
  readonly body: JsonObject
  readonly walletCode: string
  readonly transactionId: string | null
}

function judgeCode(operation: WalletOperation, currency: string, coded: CodedAnswer): Judgement {
  const { httpStatus, body, walletCode, transactionId } = coded
  const accepted = httpStatus < 300
  const known = operationMeanings[operation].get(walletCode) ?? walletCodeMeanings.get(walletCode)
  if (known === undefined && unclearStatuses.has(httpStatus))
    return unknown(`http status ${httpStatus}`, walletCode)
  const isMisspelt = known === undefined && isNearSuccess(walletCode)
  const meaning = known ?? (isMisspelt && accepted && operation === 'debit' ? 'unknown' : 'WALLET_REJECTED')
  if (meaning === 'unknown') return unknown(`the wallet says ${walletCode}`, walletCode)
  if (accepted && typeof body.balance === 'number') return unknown('the balance is a JSON number', walletCode)
  const isSure = accepted || meaning === 'success'
  if (isSure && meaning !== 'CURRENCY_MISMATCH' && isGiven(body.currency) && body.currency !== currency)
    return unknown('the answer is in another currency', walletCode)
  if (meaning === 'rolled-back') return { kind: 'rolled-back', walletCode }
  if (meaning !== 'success') {
    const isUnlisted = known === undefined && accepted && operation === 'debit'
    return { kind: 'refused', code: meaning, walletCode, ...(isUnlisted ? { isUnlisted } : {}) }
  }
  if (!accepted && walletCode === 'OK')
    return unknown(`status OK under http status ${httpStatus}`, walletCode)
  if (typeof (body.balance ?? '') !== 'string') return unknown('the balance is no string', walletCode)
  const balance = readBalance(body.balance, currency)
  const unreadable = [
    ...(isGiven(body.balance) && balance === null ? (['balance'] as const) : []),
    ...(isGiven(body.transactionId) && transactionId === null ? (['transactionId'] as const) : []),
  ]
  const balanceAfter = balance === null ? null : formatAmount(balance, currency)
  return { kind: 'success', walletCode, walletTransactionId: transactionId, balanceAfter, unreadable }
}

/** Judges an answer that does not know an original which this wallet acknowledged; null for others. */
export function contradictionOf(judgement: Judgement): Judgement | null {
  if (judgement.kind !== 'success' || judgement.walletCode !== 'TRANSACTION_NOT_FOUND') return null
  const reason = 'the wallet does not know the original, which it acknowledged'
  return unknown(reason, judgement.walletCode)
}

export type BalanceReading =
  | { readonly kind: 'balance'; readonly amount: string }
  | { readonly kind: 'refused'; readonly walletCode: string }
  | { readonly kind: 'unusable'; readonly reason: string }

/** Reads the answer to a balance call. An answer without a readable balance is unusable. Never throws. */
export function readBalanceAnswer(currency: string, exchange: WalletExchange): BalanceReading {
  const judged = judgeExchange('credit', currency, exchange)
  if (judged.kind === 'unknown') return { kind: 'unusable', reason: judged.reason }
  if (judged.kind !== 'success') return { kind: 'refused', walletCode: judged.walletCode }
  if (judged.balanceAfter === null)
    return { kind: 'unusable', reason: 'the answer has no balance that can be read' }
  return { kind: 'balance', amount: judged.balanceAfter }
}

function unknown(reason: string, walletCode: string | null = null, code: PendingCode = 'WALLET_UNAVAILABLE') {
  return { kind: 'unknown', code, walletCode, reason } as const
}

function readCode(body: JsonObject): string | null {
  const { status } = body
  if (typeof status !== 'string' || status === '' || status.length > walletCodeCharactersMax) return null
  return status
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, walletCodeCharactersMax) : null
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null
