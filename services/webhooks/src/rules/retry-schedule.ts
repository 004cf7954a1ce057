const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** The first attempt is due at once, the last after 23 h 42 m in all. Source: docs/contract.md, section 7. */
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
 * With ±10 % jitter (`random` 0 to 1), in whole milliseconds; `step` 1 is the first try; null when spent.
 * Source: docs/contract.md, section 7.
 */
export function attemptDelayMs(step: number, random: number): number | null {
  const delayMs = delaysMs[step - 1]
  if (delayMs === undefined) return null
  return Math.round(delayMs * (1 - jitter + 2 * jitter * random))
}

/** The least age since the first attempt at which `step` is due, for the rest to pass 23 h. */
export function earliestAgeMs(step: number): number {
  return Math.max(0, plainAgeMs(step) - (plainAgeMs(stepsMax) - livesAtLeastMs))
}

/** The age at which `step` is due without jitter. */
function plainAgeMs(step: number): number {
  return delaysMs.slice(0, step).reduce<number>((sum, ms) => sum + ms, 0)
}

/** A step still to come: the earliest and the latest time at which it can be due. */
type Rung = { readonly step: number; readonly from: Date; readonly to: Date }

/**
 * The steps ahead of a delivery, if each attempt fails at once; an attempt that takes long, `Retry-After` and
 * a pull forward move them. The next step is due at one time, each later one within its jitter.
 * @param firstAttemptAt of the present run of the schedule; null before the first attempt
 */
export function ladderAhead(
  { step, stepDueAt }: Place,
  firstAttemptAt: Date | null,
  scaleMs: (ms: number) => number,
): Rung[] {
  const beganMs = (firstAttemptAt ?? stepDueAt).getTime()
  const rungs: Rung[] = [{ step, from: stepDueAt, to: stepDueAt }]
  let [fromMs, toMs] = [stepDueAt.getTime(), stepDueAt.getTime()]
  for (let next = step + 1; next <= stepsMax; next += 1) {
    const least = beganMs + scaleMs(earliestAgeMs(next))
    fromMs = Math.max(fromMs + scaleMs(attemptDelayMs(next, 0) ?? 0), least)
    toMs = Math.max(toMs + scaleMs(attemptDelayMs(next, 1) ?? 0), least)
    rungs.push({ step: next, from: new Date(fromMs), to: new Date(toMs) })
  }
  return rungs
}

/** The place of a delivery on its schedule. */
export type Place = {
  /** The next step, 1 to 12. */
  readonly step: number
  /** When that step is due. An earlier attempt was pulled forward and leaves the place as it is. */
  readonly stepDueAt: Date
}

const retryAfterMaxMs = 60 * 60 * 1000

/** What a 429 or 503 asks for, ms, at most an hour; null for none. Source: docs/contract.md, section 7. */
export function retryAfterMs(httpStatus: number, header: string | null, now: Date): number | null {
  if (header === null || (httpStatus !== 429 && httpStatus !== 503)) return null
  const text = header.trim()
  if (/^[0-9]{1,20}$/.test(text)) return Math.min(Number(text) * 1000, retryAfterMaxMs)
  if (!/^[A-Za-z]{3,9},? [0-9A-Za-z :-]{10,30}$/.test(text)) return null
  const atMs = Date.parse(text)
  if (Number.isNaN(atMs)) return null
  return Math.min(Math.max(atMs - now.getTime(), 0), retryAfterMaxMs)
}
