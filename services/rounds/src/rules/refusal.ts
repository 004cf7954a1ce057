import type { CallContext } from '@pitboss/contracts/call'
import type { ErrorCode } from '@pitboss/errors/catalogue'
import { type ErrorDetail, invalidField, ServiceError } from '@pitboss/errors/service-error'

/**
 * The definite refusal of a request. It is kept so that no equal request which was under way then is accepted
 * later. A request that arrives afterwards is judged anew.
 */
export type Refusal = {
  readonly transactionId: string
  readonly requestHash: string
  readonly code: ErrorCode
  readonly message: string
  readonly details: readonly ErrorDetail[] | null
  readonly toldAt: Date
}

/** A request for a movement, as far as refusals are compared with it. */
export type MovementRequest = {
  readonly transactionId: string
  readonly requestHash: string
  /** The time of its arrival; null when its caller does not say, which counts as just now. */
  readonly receivedAt: Date | null
}

/** Bounds the document of a round; the oldest refusal is forgotten first. Source: ours. */
export const refusalsMax = 100

/**
 * Codes that say nothing about the id of the request, but about its sender, or about an object that is not
 * there. Source: docs/contract.md, section 12, "A definite answer is true for ever".
 */
const notOfTheId: readonly ErrorCode[] = [
  'UNAUTHORIZED',
  'INVALID_CREDENTIALS',
  'TOKEN_EXPIRED',
  'IP_NOT_ALLOWED',
  'FORBIDDEN',
  'INSUFFICIENT_SCOPE',
  'OPERATOR_SUSPENDED',
  'SESSION_NOT_FOUND',
  'ROUND_NOT_FOUND',
  'GAME_NOT_FOUND',
  'TRANSACTION_NOT_FOUND',
  'TRANSACTION_CONFLICT',
]

/**
 * The refusal to keep for a request that failed with `error`; null when an equal request may still succeed.
 */
export function refusalOf(
  error: unknown,
  { transactionId, requestHash }: Pick<Refusal, 'transactionId' | 'requestHash'>,
  toldAt: Date,
): Refusal | null {
  if (!(error instanceof ServiceError) || error.retryable || notOfTheId.includes(error.code)) return null
  const { code, message, details = null } = error
  return { transactionId, requestHash, code, message, details, toldAt }
}

/** The error for a kept refusal. */
export function refusalError({ code, message, details }: Refusal): ServiceError {
  return new ServiceError(code, { message, ...(details === null ? {} : { details }) })
}

/** The error for a message that the rules refuse; an equal request before it has had the same. */
export function refusedError({
  code,
  path,
  message,
  earlier,
}: {
  readonly code: ErrorCode
  readonly path?: string
  readonly message?: string
  readonly earlier?: Refusal
}): ServiceError {
  if (earlier !== undefined) return refusalError(earlier)
  if (code === 'VALIDATION_ERROR' && path !== undefined) return invalidField(path, message ?? 'is not valid')
  return message === undefined ? new ServiceError(code) : new ServiceError(code, { message })
}

/** Whether an equal request was refused after this one had arrived: then the refusal is this one's, too. */
export function isRefusedBy(
  refusal: Refusal,
  { transactionId, requestHash, receivedAt }: MovementRequest,
): boolean {
  if (refusal.transactionId !== transactionId || refusal.requestHash !== requestHash) return false
  return receivedAt !== null && receivedAt <= refusal.toldAt
}

/** The time at which the request arrived at the HTTP edge; null when the caller does not say. */
export function receivedAt({ receivedAtMs }: CallContext): Date | null {
  return receivedAtMs === undefined ? null : new Date(receivedAtMs)
}
