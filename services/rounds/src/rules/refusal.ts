import type { ErrorCode } from '@pitboss/errors/catalogue'
import { type ErrorDetail, ServiceError } from '@pitboss/errors/service-error'

/**
 * What a request was told for good. Kept, so that no equal request which was under way then is accepted
 * later. One that arrives afterwards is judged anew.
 */
export type Refusal = {
  readonly transactionId: string
  readonly requestHash: string
  readonly code: ErrorCode
  readonly message: string
  readonly details: readonly ErrorDetail[] | null
  readonly toldAt: Date
}

/** A request for a movement, as refusals know it. */
export type AskedFor = {
  readonly transactionId: string
  readonly requestHash: string
  /** When it arrived; null when its caller does not say, which counts as just now. */
  readonly receivedAt: Date | null
}

/** Bounds the document of a round; the oldest refusal is forgotten first. Source: ours. */
export const refusalsMax = 100

/**
 * These speak of the request, not of its id, or of something that is not there. Contract section 12, "A
 * definite answer is true for ever".
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

/** The refusal to keep of a request that failed with `error`; null when the same request may still succeed. */
export function refusalOf(
  error: unknown,
  { transactionId, requestHash }: Pick<Refusal, 'transactionId' | 'requestHash'>,
  toldAt: Date,
): Refusal | null {
  if (!(error instanceof ServiceError) || error.retryable || notOfTheId.includes(error.code)) return null
  const { code, message, details = null } = error
  return { transactionId, requestHash, code, message, details, toldAt }
}

/** The error that the request was refused with. */
export function refusalError({ code, message, details }: Refusal): ServiceError {
  return new ServiceError(code, { message, ...(details === null ? {} : { details }) })
}

/** Whether `refusal` was told to an equal request after this one had arrived: then it is this one's, too. */
export function isRefusedBy(refusal: Refusal, { transactionId, requestHash, receivedAt }: AskedFor): boolean {
  if (refusal.transactionId !== transactionId || refusal.requestHash !== requestHash) return false
  return receivedAt !== null && receivedAt <= refusal.toldAt
}
