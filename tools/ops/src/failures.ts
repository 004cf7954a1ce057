import { shown, shownJson } from '@pitboss/contracts/acting-characters'
import { toErrorEnvelope, ServiceError } from '@pitboss/errors/service-error'
import { newId } from '@pitboss/runtime/new-id'

/** The command was typed wrongly; the process ends with exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/**
 * Says why a command failed: the error envelope, or how to use it.
 * @param write to stderr
 * @returns the exit code, 1 or 2.
 */
export function reportFailure(error: unknown, write: (text: string) => void): 1 | 2 {
  if (error instanceof UsageError) {
    write(`error: ${shown(error.message)}\n`)
    return 2
  }
  const known =
    error instanceof ServiceError
      ? error
      : new ServiceError('INTERNAL_ERROR', {
          message: error instanceof Error ? error.message : String(error),
          cause: error,
        })
  write(`${shownJson(toErrorEnvelope(known, newId('req')))}\n`)
  return 1
}
