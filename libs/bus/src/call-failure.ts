import { ServiceError } from '@pitboss/errors/service-error'
import { errors } from 'nats'

/** As the cause of a SERVICE_UNAVAILABLE: nothing has been begun for this call, and the caller may know. */
export const notStarted = 'not-started'

/** As the cause of what a caller throws then. It is another word, so that a callee which only passes it on claims nothing for itself. */
export const shedByCallee = 'shed'

/** Why a call got no answer. Only after `timeout` may the callee have done something. */
export type CallFailure = 'disconnected' | 'no-responders' | 'timeout'

/** SERVICE_UNAVAILABLE with the reason as its cause; any error of the NATS client that is not a refusal is a time-out. */
export function callFailure(reason: unknown): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: toFailure(reason) })
}

/** Whether `error` says that a call went out and its outcome is unknown. */
export function isCallTimeout(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE' && error.cause === 'timeout'
}

function toFailure(reason: unknown): CallFailure {
  if (reason === 'disconnected' || reason === 'no-responders') return reason
  if (reason instanceof errors.NoRespondersError) return 'no-responders'
  if (reason instanceof errors.RequestError && reason.isNoResponders()) return 'no-responders'
  return 'timeout'
}
