import { hashBody } from '@pitboss/contracts/json'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import type { ErrorCode } from '@pitboss/errors/catalogue'
import { type ErrorDetail, invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Refused } from './round-message.ts'

/** A definite refusal. Its request's id is dead: every equal request is answered with it. */
export type Refusal = {
  readonly code: ErrorCode
  readonly message: string
  readonly details: readonly ErrorDetail[] | null
}

/** Codes that leave the id alive. Source: docs/contract.md, section 1, "What a refusal promises". */
const sparingCodes: readonly ErrorCode[] = [
  ...(['UNAUTHORIZED', 'INVALID_CREDENTIALS', 'TOKEN_EXPIRED', 'INVALID_SIGNATURE'] as const),
  ...(['IP_NOT_ALLOWED', 'FORBIDDEN', 'INSUFFICIENT_SCOPE', 'OPERATOR_SUSPENDED'] as const),
  ...(['OPERATOR_NOT_LIVE', 'REAL_MONEY_DISABLED', 'WALLET_NOT_CONFIGURED', 'GAME_UNAVAILABLE'] as const),
  ...(['SESSION_EXPIRED', 'SESSION_CLOSED', 'VALIDATION_ERROR', 'TRANSACTION_CONFLICT'] as const),
]

/** Refusals of what is over, under any id. */
const lastingCodes: readonly ErrorCode[] = ['ROUND_ALREADY_SETTLED', 'TRANSACTION_ALREADY_REVERSED']
const idPath = 'transaction_id'

function usedUp(code: ErrorCode): ErrorDetail {
  const remedy = lastingCodes.includes(code)
    ? 'the request would be refused under another one, too'
    : 'send the request under a new one'
  return { path: idPath, message: `is used up by this refusal; ${remedy}` }
}

/** The refusal that kills the id of a request that failed with `error`; null when the id stays alive. */
export function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof ServiceError) || error.retryable) return null
  const { code, message, details = [] } = error
  if (sparingCodes.includes(code) || code.endsWith('NOT_FOUND')) return null
  return { code, message, details: namesItsId(error) ? details : [...details, usedUp(code)] }
}

export function refusalError({ code, message, details }: Refusal): ServiceError {
  return new ServiceError(code, { message, ...(details === null ? {} : { details }) })
}

/** The same error, which says that the id of its request is used up, if it is. */
export function namingItsId(error: ServiceError): ServiceError {
  const refusal = refusalOf(error)
  return refusal === null ? error : refusalError(refusal)
}

/** Whether the error says that the id of its request is used up: then a record or a dead id says so, too. */
export function namesItsId({ details = [] }: ServiceError): boolean {
  return details.some(({ path }) => path === idPath)
}

export function refusedError({ code, path, message }: Omit<Refused, 'kind'>): ServiceError {
  if (code === 'VALIDATION_ERROR' && path !== undefined) return invalidField(path, message ?? 'is not valid')
  return message === undefined ? new ServiceError(code) : new ServiceError(code, { message })
}

/** The meaning of a request for a movement before its round is known. */
export type Meaning = {
  readonly hash: string
  /** Null where a reversal leaves it to its original. */
  readonly amount: string | null
  readonly currency: string | null
}

/** The meaning of a body: "10.5" and "10.50" are the same amount. */
export function meaningOf(body: TransactionBody): Meaning {
  const { amount = null, currency = null, ...rest } = body
  const isCut = amount?.includes('.') === true
  return { hash: hashBody(rest), amount: isCut ? amount.replace(/\.?0+$/, '') : amount, currency }
}

/** Whether two bodies ask for the same; what a reversal leaves out is what its original says. */
export function isSameMeaning(a: Meaning, b: Meaning): boolean {
  const agree = (one: string | null, other: string | null) => one === null || other === null || one === other
  return a.hash === b.hash && agree(a.amount, b.amount) && agree(a.currency, b.currency)
}
