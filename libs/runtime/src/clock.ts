/** Source of the time; rules take one as an argument. */
export type Clock = { now(): Date }

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() }

/**
 * Milliseconds by which the clocks of two machines may differ. Due times and deadlines are absolute and are
 * compared across machines, so a process whose clock is further away must not work. Leases of wallet calls
 * allow for two such clocks. Source: ours.
 */
export const clockDifferenceMaxMs = 1500

/** Shortens schedules outside production. Source: docs/contract.md, section 9. */
export type TimeScale = {
  readonly factor: number
  /** A schedule's delay divided by the factor, whole milliseconds, at least 1 for a delay above 0. */
  scaleMs(ms: number): number
}

/** @param factor 1 to 100,000. @throws RangeError outside. */
export function createTimeScale(factor: number): TimeScale {
  if (!(factor >= 1 && factor <= 100_000)) throw new RangeError('a time scale lies between 1 and 100000')
  return {
    factor,
    scaleMs: (ms) => (ms <= 0 ? 0 : Math.max(1, Math.round(ms / factor))),
  }
}
