const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/**
 * Delays before the attempts; the first is due at once, the last after 23 h 42 m in all. Source:
 * docs/contract.md, section 7.
 */
const delaysMs = [
  0,
  5 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  hourMs,
  2 * hourMs,
  3 * hourMs,
  4 * hourMs,
  6 * hourMs,
  7 * hourMs,
] as const

const jitter = 0.1

export const stepsMax = delaysMs.length

/** The least time from the first attempt to FAILED. Source: docs/contract.md, section 12. */
export const livesAtLeastMs = 23 * hourMs

/**
 * Delay before the attempt at `step` of the schedule (1 = the first try), with ±10 % jitter. Source:
 * docs/contract.md, section 7.
 * @param random 0 to 1, drawn by the caller
 * @returns whole milliseconds; null when the schedule is spent
 */
export function attemptDelayMs(step: number, random: number): number | null {
  const delayMs = delaysMs[step - 1]
  if (delayMs === undefined) return null
  return Math.round(delayMs * (1 - jitter + 2 * jitter * random))
}

/**
 * The least age, counted from the first attempt, at which `step` is due with any jitter: the rest of the
 * schedule then still takes the delivery past 23 h.
 */
export function earliestAgeMs(step: number): number {
  return Math.max(0, plainAgeMs(step) - (plainAgeMs(stepsMax) - livesAtLeastMs))
}

/** The latest step that a delivery of this age can have reached with any jitter. */
export function stepAtAge(ageMs: number, scaleMs: (ms: number) => number): number {
  const reached = delaysMs.findLastIndex((_, index) => scaleMs(plainAgeMs(index + 1) * (1 - jitter)) <= ageMs)
  return Math.max(0, reached) + 1
}

/** The age at which `step` is due without jitter. */
function plainAgeMs(step: number): number {
  return delaysMs.slice(0, step).reduce<number>((sum, ms) => sum + ms, 0)
}
