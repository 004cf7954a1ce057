/** Divides the delays of the schedule; see docs/contract.md, section 9. */
export type ScaleMs = (ms: number) => number

const hourMs = 3_600_000

/** Seconds before each step, 23 h 42 m in all. Source: docs/contract.md, section 7. */
const delaysS = [0, 5, 30, 120, 600, 1800, 3600, 7200, 10_800, 14_400, 21_600, 25_200]
const delaysMs: readonly number[] = delaysS.map((seconds) => seconds * 1000)

const jitter = 0.1
export const stepsMax = delaysMs.length

/** The least time from the first attempt to FAILED. Source: docs/contract.md, section 12. */
const livesAtLeastMs = 23 * hourMs

/** In whole milliseconds, with ±10 % jitter (`random` 0 to 1); `step` 1 is the first; null when spent. */
export function attemptDelayMs(step: number, random: number): number | null {
  const delayMs = delaysMs[step - 1]
  if (delayMs === undefined) return null
  return Math.round(delayMs * (1 - jitter + 2 * jitter * random))
}

/** The least age since the first attempt at which `step` is due, for the rest to pass 23 h. */
function earliestAgeMs(step: number): number {
  return Math.max(0, plainAgeMs(step) - (plainAgeMs(stepsMax) - livesAtLeastMs))
}

const plainAgeMs = (step: number): number => delaysMs.slice(0, step).reduce<number>((sum, ms) => sum + ms, 0)

/** When each step can be due if all attempts fail at once. @param firstAttemptAt of this run; null before */
export function ladderAhead(place: Place, firstAttemptAt: Date | null, scaleMs: ScaleMs) {
  const { step, stepDueAt } = place
  const beganMs = (firstAttemptAt ?? stepDueAt).getTime()
  const rungs = [{ step, from: stepDueAt, to: stepDueAt }]
  let [fromMs, toMs] = [stepDueAt.getTime(), stepDueAt.getTime()]
  for (let next = step + 1; next <= stepsMax; next += 1) {
    const least = beganMs + scaleMs(earliestAgeMs(next))
    fromMs = Math.max(fromMs + scaleMs(attemptDelayMs(next, 0) ?? 0), least)
    toMs = Math.max(toMs + scaleMs(attemptDelayMs(next, 1) ?? 0), least)
    rungs.push({ step: next, from: new Date(fromMs), to: new Date(toMs) })
  }
  return rungs
}

export type Place = {
  /** The next step, 1 to 12. */
  readonly step: number
  /** When that step is due. An earlier attempt was pulled forward and leaves the place as it is. */
  readonly stepDueAt: Date
}

const retryAfterMaxMs = hourMs

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

export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly place: Place }
  /** `scheduleSpent` is false for a delivery with only one attempt (a test, a manual retry). */
  | { readonly kind: 'failed'; readonly scheduleSpent: boolean }

type Attempt = {
  /** Where the attempt was made. */
  readonly place: Place
  readonly startedAt: Date
  readonly at: Date
  /** The first attempt of the present run of the schedule. */
  readonly firstAttemptAt: Date
  /** The delay that the receiver asked for; it counts when it ends later than the schedule says. */
  readonly retryAfterMs: number | null
  /** 0 to 1, drawn by the caller. */
  readonly random: number
  readonly scaleMs: ScaleMs
}

/** @param single one attempt and no schedule. Source: docs/contract.md, sections 7, 11 and 12. */
export function judgeAttempt(attempt: Attempt & { ok: boolean; single: boolean }): DeliveryOutcome {
  if (attempt.ok) return { kind: 'delivered' }
  if (attempt.single) return { kind: 'failed', scheduleSpent: false }
  const place = placeAfter(attempt)
  return place === null ? { kind: 'failed', scheduleSpent: true } : { kind: 'retry', place }
}

/** After an attempt whose worker died: sent again at once; one that used up its step moves on. */
export function placeAfterInterruption(attempt: Omit<Attempt, 'at' | 'retryAfterMs'>): Place {
  return placeAfter({ ...attempt, at: attempt.startedAt, retryAfterMs: null }) ?? attempt.place
}

/** An attempt before the due time of the step uses none up. Null when the schedule is spent. */
function placeAfter(attempt: Attempt): Place | null {
  const { startedAt, at, firstAttemptAt, retryAfterMs, random, scaleMs } = attempt
  const { step, stepDueAt } = attempt.place
  const askedFor = after(at, retryAfterMs ?? 0)
  if (startedAt < stepDueAt && retryAfterMs === null) return { step, stepDueAt }
  if (startedAt < stepDueAt) return { step, stepDueAt: latest(stepDueAt, askedFor) }
  const delayMs = attemptDelayMs(step + 1, random)
  if (delayMs === null) {
    const end = after(firstAttemptAt, scaleMs(livesAtLeastMs))
    return startedAt < end ? { step, stepDueAt: latest(end, askedFor) } : null
  }
  const earliest = after(firstAttemptAt, scaleMs(earliestAgeMs(step + 1)))
  return { step: step + 1, stepDueAt: latest(after(at, scaleMs(delayMs)), earliest, askedFor) }
}

const after = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

const latest = (...instants: readonly Date[]) => new Date(Math.max(...instants.map((at) => at.getTime())))
