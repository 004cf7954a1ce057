/** When a movement is tried again. Source: contract sections 5 and 11. */

const s = 1000
const min = 60 * s
const h = 60 * min

const firstDelaysMs = [1 * s, 2 * s, 5 * s, 15 * s, 30 * s, 1 * min, 2 * min, 5 * min, 10 * min, 30 * min]
/** The delays above reach 48 min 53 s; with 23 more hours the last hourly try is the last one within 24 h. */
const hourlyTries = 23

/** A stake's tries begin this long after its intent was stored, never divided by a time scale. */
const stakeTryOffsetsMs = [0, 2 * s, 5 * s]
export const stakeTriesMax = stakeTryOffsetsMs.length
export const stakeEnvelopeMs = 15 * s
/** A stake's try that could not have at least this long before the envelope ends is not begun. */
export const stakeTryMinMs = 250

/**
 * Delay of a credit or rollback after its failed try number `failedTries` (1 = the first), before any time scale.
 * Never ends: every 6 h from the 24th hour on.
 */
export function ladderDelayMs(failedTries: number): number {
  const first = firstDelaysMs[failedTries - 1]
  if (first !== undefined) return first
  return failedTries - firstDelaysMs.length <= hourlyTries ? h : 6 * h
}

/** When the stake's next try may begin, or null when its tries or its envelope are used up at `now`. */
export function nextStakeTryAt(createdAt: Date, tries: number, now: Date): Date | null {
  const offset = stakeTryOffsetsMs[tries]
  if (offset === undefined) return null
  const at = Math.max(createdAt.getTime() + offset, now.getTime())
  return at > createdAt.getTime() + stakeEnvelopeMs - stakeTryMinMs ? null : new Date(at)
}

/** Longest time that a call begun at `now` may take: the wallet's own, cut to what is left of a stake's envelope. */
export function callTimeoutMs(walletTimeoutMs: number, stakeCreatedAt: Date | null, now: Date): number {
  if (stakeCreatedAt === null) return walletTimeoutMs
  const left = stakeCreatedAt.getTime() + stakeEnvelopeMs - now.getTime()
  return Math.max(1, Math.min(walletTimeoutMs, left))
}
