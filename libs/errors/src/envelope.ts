import { type ErrorCode, errorCatalogue } from './catalogue.ts'
import { type ErrorDetail, type ErrorResource, ServiceError } from './service-error.ts'

/** The body of every error answer. Source: docs/contract.md, section 1. */
export type ErrorEnvelope = {
  code: ErrorCode
  message: string
  retryable: boolean
  request_id: string
  details?: readonly ErrorDetail[]
  resource?: ErrorResource
}

/**
 * Renders any thrown value as the public envelope; unexpected ones become a bare INTERNAL_ERROR. Never
 * throws.
 */
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
