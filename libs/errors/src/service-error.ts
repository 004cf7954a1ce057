import { type ErrorCode, errorCatalogue } from './catalogue.ts'

/** One offending field: a dotted path (`limits.0.min_stake`) and its fault. */
export type ErrorDetail = { readonly path: string; readonly message: string }

/** Ids that a caller can look up after an answer of unknown outcome. Source: docs/contract.md, section 1. */
export type ErrorResource = { readonly round_id?: string; readonly transaction_id: string }

type ServiceErrorOptions = {
  readonly message?: string
  readonly details?: readonly ErrorDetail[]
  readonly resource?: ErrorResource
  /** Seconds, at least 1; becomes the Retry-After header. */
  readonly retryAfterS?: number
  readonly cause?: unknown
}

/** An expected failure with a public code and message; the cause is logged and never sent. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[] | undefined
  readonly resource: ErrorResource | undefined
  readonly retryAfterS: number | undefined

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    super(
      options.message ?? errorCatalogue[code].message,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'ServiceError'
    this.code = code
    this.details = options.details
    this.resource = options.resource
    this.retryAfterS = options.retryAfterS
  }

  /** Whether the same request may be worth repeating: else its answer stays true for ever. */
  get retryable(): boolean {
    return errorCatalogue[this.code].retryable
  }
}

/** The refusal of what contradicts what exists. @param message says what is in the way */
export function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', { message })
}

/** The refusal of what may go well in a second. @param why for the log */
export function tryAgain(why?: string): ServiceError {
  const cause = why === undefined ? undefined : new Error(why)
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })
}

/** A VALIDATION_ERROR about exactly one field. */
export function invalidField(path: string, message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    message: `${path}: ${message}`,
    details: [{ path, message }],
  })
}

/** A VALIDATION_ERROR about these fields; its message shows the first and says how many more there are. */
export function invalidFields(details: readonly ErrorDetail[]): ServiceError {
  const [first, ...others] = details
  if (first === undefined) return new ServiceError('VALIDATION_ERROR')
  const more = others.length === 0 ? '' : ` (${others.length} more in details)`
  return new ServiceError('VALIDATION_ERROR', { message: `${first.path}: ${first.message}${more}`, details })
}

/**
 * Reads parts of a request, each to its end, so that one answer names all fields that are wrong.
 * @throws ServiceError VALIDATION_ERROR with the details of every part; else what a part throws, if no part
 * before it was wrong
 */
export function readAll<const Values extends readonly unknown[]>(
  ...parts: { [Key in keyof Values]: () => Values[Key] }
): Values {
  const details: ErrorDetail[] = []
  const values: unknown[] = []
  for (const read of parts) {
    try {
      values.push(read())
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'VALIDATION_ERROR')
        details.push(...(error.details ?? []))
      else if (details.length === 0) throw error
      else break
    }
  }
  if (details.length > 0) throw invalidFields(details)
  return values as unknown as Values
}

/** Tells the first person of two that nothing was done yet. @param expiresAt ISO 8601 */
export function approvalNeeded(approvalId: string, expiresAt: string): ServiceError {
  return new ServiceError('APPROVAL_NEEDED', {
    message:
      'Nothing was done yet: in this account another OWNER or ADMIN has to approve it. ' +
      `It is asked for as ${approvalId}, until ${expiresAt}.`,
    details: [{ path: 'approval_id', message: approvalId }],
  })
}

/** The body of every error answer. Source: docs/contract.md, section 1. */
type ErrorEnvelope = {
  code: ErrorCode
  message: string
  retryable: boolean
  request_id: string
  details?: readonly ErrorDetail[]
  resource?: ErrorResource
}

/** The public envelope of any thrown value; an unexpected one is a bare INTERNAL_ERROR. Never throws. */
export function toErrorEnvelope(error: unknown, requestId: string): ErrorEnvelope {
  const known = error instanceof ServiceError ? error : new ServiceError('INTERNAL_ERROR')
  return {
    code: known.code,
    message: known.message,
    retryable: errorCatalogue[known.code].retryable,
    request_id: requestId,
    ...(known.details === undefined ? {} : { details: known.details }),
    ...(known.resource === undefined ? {} : { resource: known.resource }),
  }
}
