import { ServiceError } from '@pitboss/errors/service-error'

/** Cause of a SERVICE_UNAVAILABLE: nothing has been begun for this call, and the caller may know it. */
export const notStarted = 'not-started'

/**
 * Cause of the error that the caller then throws. It is another word, so that a callee which only passes it
 * on claims nothing for itself.
 */
export const shedByCallee = 'shed'

/** Reason why a call got no answer. Only after `timeout` may the callee have done something. */
export type CallFailure = 'disconnected' | 'no-responders' | 'timeout'

/** SERVICE_UNAVAILABLE with the failure as its cause. */
export function callFailure(failure: CallFailure): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: failure })
}

/** Whether `error` says that a call went out and its outcome is unknown. */
export function isCallTimeout(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE' && error.cause === 'timeout'
}
