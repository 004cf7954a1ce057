import { clockDifferenceMaxMs } from './clock.ts'

/** Whether this machine's clock is at most 1.5 s away from the database's. */
export function clockAgrees(aheadMs: number): boolean {
  return Math.abs(aheadMs) <= clockDifferenceMaxMs
}

/**
 * Work that is left out while the clock is wrong: what is due by it may not be due. A replica whose clock is
 * right does it meanwhile. Source: ours.
 */
export function whileClockAgrees<Given extends unknown[], Result>(
  clockAheadMs: () => number,
  work: (...given: Given) => Promise<Result>,
): (...given: Given) => Promise<Result | undefined> {
  return async (...given) => (clockAgrees(clockAheadMs()) ? work(...given) : undefined)
}
