/** A rate per second with a burst on top. The level may go below zero by the requests of other gateways. */

export type BucketRule = { readonly kind: 'bucket'; readonly perSecond: number; readonly burst: number }
export type BucketState = { level: number; atMs: number }

/** A limiter's verdict on one request. Seconds are whole, and at least 1 where the request is refused. */
export type Verdict = {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetS: number
  readonly retryAfterS: number
}

const debtBurstsMax = 10

export function newBucket({ burst }: BucketRule, nowMs: number): BucketState {
  return { level: burst, atMs: nowMs }
}

/** Takes one token if there is one. */
export function takeFromBucket(rule: BucketRule, state: BucketState, nowMs: number): Verdict {
  refill(rule, state, nowMs)
  const allowed = state.level >= 1
  if (allowed) state.level -= 1
  return {
    allowed,
    limit: rule.burst,
    remaining: Math.max(0, Math.floor(state.level)),
    resetS: Math.ceil((rule.burst - state.level) / rule.perSecond),
    retryAfterS: Math.max(1, Math.ceil((1 - state.level) / rule.perSecond)),
  }
}

/** Books requests that another gateway let through; the debt makes the sum right over time. */
export function chargeBucket(rule: BucketRule, state: BucketState, count: number, nowMs: number): void {
  refill(rule, state, nowMs)
  state.level = Math.max(state.level - count, -debtBurstsMax * rule.burst)
}

function refill({ perSecond, burst }: BucketRule, state: BucketState, nowMs: number): void {
  const elapsedS = Math.max(0, nowMs - state.atMs) / 1000
  state.level = Math.min(burst, state.level + elapsedS * perSecond)
  state.atMs = nowMs
}
