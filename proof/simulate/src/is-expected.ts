import { ServiceError } from '@pitboss/errors/service-error'

/**
 * Whether a process may throw this error: one that callers get, or a lost connection. Everything else is a
 * defect.
 */
export function isExpected(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code !== 'INTERNAL_ERROR'
  return isConnectionLost(error) || isUnknown(error)
}

/** What stands of an append is not known: the caller tries again. */
function isUnknown(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('it is not known whether')
}

function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith('the connection is lost')
}
