const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** Delay before each attempt, the first being due at once: 23 h 42 m in all. Source: contract section 7. */
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

export const attemptsMax = delaysMs.length

/**
 * Delay before the attempt at `step` of the schedule (1 = the first try), with ±10 % jitter.
 * @param random 0 to 1, drawn by the caller
 * @returns whole milliseconds; null when the schedule is spent. Source: contract section 7.
 */
export function attemptDelayMs(step: number, random: number): number | null {
  const delayMs = delaysMs[step - 1]
  if (delayMs === undefined) return null
  return Math.round(delayMs * (1 - jitter + 2 * jitter * random))
}
