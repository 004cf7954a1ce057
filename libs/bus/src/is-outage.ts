const lostDatabase =
  /^Mongo(Network|NetworkTimeout|ServerSelection|PoolCleared|PoolClosed|NotConnected|TopologyClosed|WaitQueueTimeout)/
const lostSocket = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])
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
    if ('errorLabelSet' in current && current.errorLabelSet instanceof Set) {
      const labels = current.errorLabelSet
      if (transientLabels.some((label) => labels.has(label))) return true
    }
    current = current.cause
  }
  return false
}
