/** Clocks that drift apart by more than this have jumped. */
const jumpMs = 1000

/**
 * A steady clock in milliseconds that also passes while the machine sleeps, which the monotonic clock may
 * pass over: where the wall clock has gone on a second more, that counts.
 */
export function createSteadyClock(
  monotonicMs: () => number = () => performance.now(),
  wallMs: () => number = () => Date.now(),
): () => number {
  let sleptMs = 0
  let apartMs = wallMs() - monotonicMs()
  return () => {
    const monotonic = monotonicMs()
    const apart = wallMs() - monotonic
    if (apart - apartMs > jumpMs) sleptMs += apart - apartMs
    if (Math.abs(apart - apartMs) > jumpMs) apartMs = apart
    return monotonic + sleptMs
  }
}
