/** When a movement is tried again. Source: contract sections 5, 11 and 12. */

const s = 1000
const min = 60 * s
const h = 60 * min

const firstRungs = [
  ...[1 * s, 2 * s, 5 * s, 15 * s, 30 * s].map(once),
  ...[1 * min, 2 * min, 5 * min, 10 * min, 30 * min].map(once),
  // The delays above reach 48 min 53 s; the 24th hour after that is the last that begins within 24 h.
  { delayMs: h, times: 24 },
]
const lastRung = { delayMs: 6 * h, times: Number.POSITIVE_INFINITY }
/**
 * After a try that took long the next age may be near; a wallet in trouble is left alone for this long all
 * the same.
 */
const retryMinMs = 1 * s
const unknownAgeDelayMs = 1 * min

/** A stake's tries begin this long after its intent was stored, never divided by a time scale. */
const stakeTryOffsetsMs = [0, 2 * s, 5 * s]
const stakeEnvelopeMs = 15 * s
/** A stake's try that could not have at least this long before the envelope ends is not begun. */
const stakeTryMinMs = 250

type ScaleMs = (ms: number) => number

/** From the age `fromAgeMs` on, until `untilAgeMs`, tries lie `delayMs` apart. */
export type Rung = { readonly fromAgeMs: number; readonly untilAgeMs: number; readonly delayMs: number }

/**
 * The ladder by ages in milliseconds, delays and ages scaled alike. The last rung has no end; delays never
 * get shorter.
 */
export function ladderRungs(scaleMs: ScaleMs): Rung[] {
  let fromAgeMs = 0
  return [...firstRungs, lastRung].map(({ delayMs: unscaledMs, times }) => {
    const delayMs = scaleMs(unscaledMs)
    const rung = { fromAgeMs, untilAgeMs: fromAgeMs + delayMs * times, delayMs }
    fromAgeMs = rung.untilAgeMs
    return rung
  })
}

/**
 * The longest that the next try of a credit or rollback may be away at this age while no call of it is
 * under way: the delay of contract section 5 that belongs to the age, whatever was tried before, hinted or
 * brought forward.
 * @param ageMs since the movement's creation, in real time; what lies before it counts as its first moment
 * @param scaleMs the service's time scale, which divides ages and delays alike
 * @returns milliseconds. @throws RangeError for what is no age. Source: contract sections 5 and 12.
 */
export function nextTryWithinMs(ageMs: number, scaleMs: ScaleMs): number {
  return rungAt(ageMs, scaleMs).delayMs
}

/**
 * When a credit or rollback is tried again whose try number `tries` failed at `now`: after the delay that
 * follows so many tries, or at the next age at which the ladder has one, whichever comes first. So tries
 * that were brought forward put off none, and neither do tries that took long or were lost with their
 * process. At least a second away and, unless it was made under a clock that was ahead, never further than
 * `nextTryWithinMs`.
 */
export function nextOwedTryAt(
  { createdAt, tries }: { createdAt: Date; tries: number },
  now: Date,
  scaleMs: ScaleMs,
): Date {
  const byAgeMs = Math.max(waitByAgeMs(now.getTime() - createdAt.getTime(), scaleMs), scaleMs(retryMinMs))
  return new Date(now.getTime() + Math.min(byAgeMs, scaleMs(delayAfterMs(tries))))
}

function waitByAgeMs(ageMs: number, scaleMs: ScaleMs): number {
  // Nobody knows the age of a movement from the future: some clock was ahead, nobody knows how far.
  if (ageMs < 0) return scaleMs(unknownAgeDelayMs)
  const { fromAgeMs, delayMs } = rungAt(ageMs, scaleMs)
  return delayMs - ((ageMs - fromAgeMs) % delayMs)
}

/** The delay after that many tries that failed, the first one included. */
function delayAfterMs(tries: number): number {
  let left = tries
  for (const { delayMs, times } of firstRungs) {
    if (left <= times) return delayMs
    left -= times
  }
  return lastRung.delayMs
}

function rungAt(ageMs: number, scaleMs: ScaleMs): Rung {
  const rung = ladderRungs(scaleMs).find(({ untilAgeMs }) => ageMs < untilAgeMs)
  if (rung === undefined) throw new RangeError(`${ageMs} ms is no age`)
  return rung
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

function once(delayMs: number) {
  return { delayMs, times: 1 }
}
