/** The times at which a movement is tried again. Source: docs/contract.md, sections 5, 11 and 12. */

const s = 1000
const min = 60 * s
const h = 60 * min

const once = (delayMs: number) => ({ delayMs, times: 1 })
const firstSteps = [
  ...[1 * s, 2 * s, 5 * s, 15 * s, 30 * s].map(once),
  ...[1 * min, 2 * min, 5 * min, 10 * min, 30 * min].map(once),
  // The delays above reach 48 min 53 s; the 24th hour after that is the last that begins within 24 h.
  { delayMs: h, times: 24 },
]
const lastStep = { delayMs: 6 * h, times: Number.POSITIVE_INFINITY }
/** The shortest pause after a failed try, also when the try took so long that the next age is near. */
const retryMinMs = 1 * s
const unknownAgeDelayMs = 1 * min
/** More than a wallet call is held, whatever the time scale. */
const callHeldMaxMs = 1 * min

/** The starts of a stake's tries, counted from its stored intent; never divided by a time scale. */
const stakeTryOffsetsMs = [0, 2 * s, 5 * s]
const stakeEnvelopeMs = 15 * s
/** The least time before the envelope ends that a stake's try needs; with less it is not begun. */
const stakeTryMinMs = 250

/** Divides the delays of the retry schedule; see docs/contract.md, section 9. */
export type ScaleMs = (ms: number) => number

type TriedMovement = { readonly createdAt: Date; readonly tries: number }
/** From the age `fromAgeMs` on, until `untilAgeMs`, tries lie `delayMs` apart. */
type RetryStep = { readonly fromAgeMs: number; readonly untilAgeMs: number; readonly delayMs: number }

/** The schedule by ages in milliseconds; delays never get shorter, and the last step has no end. */
function retrySteps(scaleMs: ScaleMs): RetryStep[] {
  let fromAgeMs = 0
  return [...firstSteps, lastStep].map(({ delayMs: unscaledMs, times }) => {
    const delayMs = scaleMs(unscaledMs)
    const step = { fromAgeMs, untilAgeMs: fromAgeMs + delayMs * times, delayMs }
    fromAgeMs = step.untilAgeMs
    return step
  })
}

/**
 * The longest wait for the next try of a credit or rollback of this age, in milliseconds.
 * @param ageMs since its creation, in real time; a negative one counts as 0
 * @throws RangeError when `ageMs` is NaN or infinite. Source: docs/contract.md, sections 5 and 12
 */
export function nextTryWithinMs(ageMs: number, scaleMs: ScaleMs): number {
  return stepAt(ageMs, scaleMs).delayMs
}

/**
 * The time of the next try of a credit or rollback after try number `tries` failed: after the delay that
 * follows so many, or at the next age that has a try, whichever is first. So a try that was brought forward,
 * took long or was lost delays nothing. At least a second after `now`, at most `nextTryWithinMs`.
 */
export function nextOwedTryAt({ createdAt, tries }: TriedMovement, now: Date, scaleMs: ScaleMs): Date {
  const byAgeMs = Math.max(waitByAgeMs(now.getTime() - createdAt.getTime(), scaleMs), scaleMs(retryMinMs))
  return new Date(now.getTime() + Math.min(byAgeMs, scaleMs(delayAfterMs(tries))))
}

function waitByAgeMs(ageMs: number, scaleMs: ScaleMs): number {
  // A movement from the future was created by a clock that was ahead, so its age is unknown.
  if (ageMs < 0) return scaleMs(unknownAgeDelayMs)
  const { fromAgeMs, delayMs } = stepAt(ageMs, scaleMs)
  return delayMs - ((ageMs - fromAgeMs) % delayMs)
}

/** The delay after that many failed tries, the first one included. */
function delayAfterMs(tries: number): number {
  let left = tries
  for (const { delayMs, times } of firstSteps) {
    if (left <= times) return delayMs
    left -= times
  }
  return lastStep.delayMs
}

function stepAt(ageMs: number, scaleMs: ScaleMs): RetryStep {
  const step = retrySteps(scaleMs).find(({ untilAgeMs }) => ageMs < untilAgeMs)
  if (step === undefined) throw new RangeError(`${ageMs} ms is no age`)
  return step
}

/** The earliest time of a stake's next try, or null when its tries or its envelope are used up at `now`. */
export function nextStakeTryAt(createdAt: Date, tries: number, now: Date): Date | null {
  const offset = stakeTryOffsetsMs[tries]
  if (offset === undefined) return null
  const at = Math.max(createdAt.getTime() + offset, now.getTime())
  return at > createdAt.getTime() + stakeEnvelopeMs - stakeTryMinMs ? null : new Date(at)
}

/** In milliseconds from `now`: the wallet's timeout, or the rest of a stake's envelope if that is shorter. */
export function callTimeoutMs(walletTimeoutMs: number, stakeCreatedAt: Date | null, now: Date): number {
  if (stakeCreatedAt === null) return walletTimeoutMs
  const left = stakeCreatedAt.getTime() + stakeEnvelopeMs - now.getTime()
  return Math.max(1, Math.min(walletTimeoutMs, left))
}

/** The longest that anything waits: a retry delay, or a minute. A later time is of a clock that was ahead. */
export function furthestWait(now: Date, scaleMs: ScaleMs): Date {
  return new Date(now.getTime() + Math.max(scaleMs(lastStep.delayMs), callHeldMaxMs))
}

/** Tells whether `at` has come, or was set under a clock that was ahead, which counts as if it had. */
export function hasCome(at: Date, now: Date, scaleMs: ScaleMs): boolean {
  return at <= now || at > furthestWait(now, scaleMs)
}
