/** Batches begin so far apart at least, however cheap they are. */
const leastMs = 10
/** Those that are dearer begin so far apart at most, or at once after one another. */
const mostMs = 20
/** Between two beginnings lie so many times what the batch took. */
const share = 3

/**
 * Returns how long the recorder of events waits after a batch that took `tookMs`, in milliseconds. What
 * arrives meanwhile is recorded, and then sent, together. Cheap batches follow one another soon; where they
 * are dear, as on a busy machine, they are fewer and larger. Source: ours.
 */
export function pauseAfterBatchMs(tookMs: number): number {
  const spacingMs = Math.min(mostMs, Math.max(leastMs, share * tookMs))
  return Math.max(0, spacingMs - tookMs)
}
