import { ServiceError } from '@pitboss/errors/service-error'

/** Cause of a SERVICE_UNAVAILABLE: nothing has been begun for this call, and the caller may know it. */
export const notStarted = 'not-started'

/** Cause of the caller's error: another word, so that a callee which passes it on claims nothing. */
export const shedByCallee = 'shed'

/** `lost`: no process works on it. Only after `timeout` and `lost` may the callee have done something. */
export type CallFailure = 'disconnected' | 'no-responders' | 'timeout' | 'lost'

/** SERVICE_UNAVAILABLE with the failure as its cause. */
export function callFailure(failure: CallFailure): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: failure })
}

/** Whether `error` says that a call went out and its outcome is unknown. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.code !== 'SERVICE_UNAVAILABLE') return false
  return error.cause === 'timeout' || error.cause === 'lost'
}

const lostDatabase =
  /^Mongo(Network|NetworkTimeout|ServerSelection|PoolCleared|PoolClosed|NotConnected|TopologyClosed|WaitQueueTimeout)/
const lostSocket = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])
/**
 * Codes of a replica set that elects another primary, shuts down, or has no majority for a write in time. The
 * driver's name for them differs with the command. Source: MongoDB's error_codes.yml.
 */
const electionCodes = new Set<unknown>([
  64, // WriteConcernTimeout
  91, // ShutdownInProgress
  189, // PrimarySteppedDown
  10_058, // NotPrimary, of an old server
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_602, // InterruptedDueToReplStateChange
  13_435, // NotPrimaryNoSecondaryOk
  13_436, // NotPrimaryOrSecondary
])
const transientLabels = ['RetryableWriteError', 'TransientTransactionError', 'ResetPool']
const causesMax = 5

/**
 * Whether a failure only means that a database or a broker is away for a moment: its caller gets
 * SERVICE_UNAVAILABLE, which is worth repeating, and not INTERNAL_ERROR. Goes by names, so that the bus needs
 * no database driver. Never throws.
 */
export function isOutage(error: unknown): boolean {
  let current: unknown = error
  for (let depth = 0; depth < causesMax && current instanceof Error; depth++) {
    if (lostDatabase.test(current.name)) return true
    if ('code' in current && typeof current.code === 'string' && lostSocket.has(current.code)) return true
    if (current.name.startsWith('Mongo') && 'code' in current && electionCodes.has(current.code)) return true
    if ('errorLabelSet' in current && current.errorLabelSet instanceof Set) {
      const labels = current.errorLabelSet
      if (transientLabels.some((label) => labels.has(label))) return true
    }
    current = current.cause
  }
  return false
}
